import { call } from './call.ts';
import { branchHeaders } from './connection.ts';
import type { Connection } from './running-dev.ts';

/**
 * The address of a page of the dashboard, such as `runs/run_…`, in the environment of the key. Undefined if the server does not report the
 * environment: a missing link is never a failure.
 */
export async function dashboardLink(
  { url, key, branch }: Connection & { readonly branch?: string | undefined },
  page: string,
): Promise<string | undefined> {
  const caller = await call({ url, token: key }, 'whoami', { headers: branchHeaders(branch) }).catch(
    () => undefined,
  );
  const { project, environment } = caller ?? {};
  if (!project || !environment) return undefined;
  const slug = branch === undefined ? environment.name : `${environment.name}~${branch}`;
  return `${url}/p/${project.ref}/${encodeURIComponent(slug)}/${page}`;
}
