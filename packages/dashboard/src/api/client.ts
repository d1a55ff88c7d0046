import {
  dashboardHeader,
  environmentHeader,
  failureIn,
  projectHeader,
  routes,
} from '@millrace/contract/plain';
import { ApiError } from './api-error.ts';
import { setConnection } from './connection.ts';
import type { InputOf, OperationName, ReplyOf } from './operation-types.ts';

/** The environment of a call. */
export interface Environment {
  readonly project: string;
  /** `dev`, `stg`, `prod` or `preview`. */
  readonly kind: string;
  readonly branch?: string | undefined;
}

export interface CallOptions {
  /** Without one, the call is about the user, an organization or the object in its path. */
  readonly environment?: Environment | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The server executes a change once per key, so it can be repeated after a lost response. */
  readonly requestKey?: string;
}

/** The address of the dashboard, with a trailing slash. The API is below it as well. */
export const baseUrl = new URL('.', document.baseURI).href;

/** `?a=1&b=2` for the given parameters, or an empty text. */
function queryText(query: Readonly<Record<string, unknown>> = {}): string {
  const params = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  if (params.length === 0) return '';
  return `?${new URLSearchParams(params.map(([name, value]): [string, string] => [name, String(value)]))}`;
}

/** Method, path and query of a call, also shown under "as curl". */
export function requestOf<N extends OperationName>(
  name: N,
  input: InputOf<N>,
): { readonly method: string; readonly path: string } {
  const [method, template] = routes[name];
  const params = (input.params ?? {}) as Readonly<Record<string, string>>;
  const path = template.replaceAll(/:(\w+)/g, (_, param: string) => encodeURIComponent(params[param] ?? ''));
  return { method, path: path + queryText(input.query) };
}

export const headersOf = (environment: Environment | undefined): Record<string, string> => ({
  // The session cookie is only accepted with it: forms and images on other pages cannot send it.
  [dashboardHeader]: '1',
  ...(environment && {
    [projectHeader]: environment.project,
    [environmentHeader]: environment.kind,
    ...(environment.branch !== undefined && { 'x-trigger-branch': environment.branch }),
  }),
});

interface Problem {
  readonly error?: unknown;
  readonly details?: ApiError['details'];
  /** For changes of environment variables: the problem of each invalid one. */
  readonly variableErrors?: readonly { readonly key: string; readonly error: string }[];
}

const detailsOf = ({ details, variableErrors }: Problem): ApiError['details'] =>
  Array.isArray(details)
    ? details
    : Array.isArray(variableErrors)
      ? variableErrors.map(({ key, error }) => ({ message: `${key}: ${error}` }))
      : [];

async function problemOf(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => ({}))) as Problem;
  const message =
    typeof body.error === 'string' ? body.error : `The server responded with ${response.status}.`;
  const after = Number(response.headers.get('retry-after'));
  return new ApiError(response.status, message, {
    details: detailsOf(body),
    ...failureIn((name) => response.headers.get(name)),
    ...(after > 0 && { retryAfter: after }),
  });
}

/** Sends a request and records whether the server responds. Throws an `ApiError` for every error response. */
export async function send(path: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(new URL(path.replace(/^\//, ''), baseUrl), { ...init, cache: 'no-store' });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    setConnection('lost');
    throw new ApiError(0, 'The server cannot be reached.');
  }
  if (response.ok) {
    setConnection('ok');
    return response;
  }
  const problem = await problemOf(response);
  if (problem.isOutage) setConnection('lost');
  else setConnection(problem.status === 401 ? 'loggedOut' : 'ok');
  throw problem;
}

/**
 * Calls an operation of the API.
 *
 * @example
 * const { data } = await call('listRuns', { query: { 'filter[status]': 'FAILED' } }, { environment });
 */
export async function call<N extends OperationName>(
  name: N,
  input: InputOf<N>,
  { environment, signal, requestKey }: CallOptions = {},
): Promise<ReplyOf<N>> {
  const { method, path } = requestOf(name, input);
  // A string is sent verbatim: it is appended to a channel.
  const isText = typeof input.body === 'string';
  const response = await send(path, {
    method,
    headers: {
      ...headersOf(environment),
      ...(input.body !== undefined && { 'content-type': isText ? 'text/plain' : 'application/json' }),
      // A channel uses another header to recognize repeated appends.
      ...(requestKey !== undefined && {
        [isText ? 'x-part-id' : 'x-trigger-request-idempotency-key']: requestKey,
      }),
    },
    ...(input.body !== undefined && { body: isText ? (input.body as string) : JSON.stringify(input.body) }),
    ...(signal && { signal }),
  });
  const text = await response.text();
  return (text === '' ? undefined : JSON.parse(text)) as ReplyOf<N>;
}
