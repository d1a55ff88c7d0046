import type { Operations } from '@millrace/contract';
import { routes } from '@millrace/contract/plain';

/** The parameters of a path, and those of its query. */
export interface Parameters {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
}

/** The method and the address of an operation of the server at `url`. */
export function addressOf(
  url: string,
  name: keyof Operations,
  { params = {}, query = {} }: Parameters,
): { readonly method: string; readonly address: string } {
  const [method, path] = routes[name];
  const filled = path.replace(/:(\w+)/g, (_, parameter: string) =>
    encodeURIComponent(params[parameter] ?? ''),
  );
  const search = new URLSearchParams(query).toString();
  return { method, address: `${url}${filled}${search === '' ? '' : `?${search}`}` };
}
