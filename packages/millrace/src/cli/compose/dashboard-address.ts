import type { Credentials } from '@millrace/server';
import { call } from '../call.ts';

/**
 * The address of the dashboard. On a terminal it is a login link that leads to `path` (elsewhere the output may be stored). Without a link, the
 * text names the command that logs in.
 */
export async function dashboardAddress(
  url: string,
  { personalAccessToken: token }: Credentials,
  {
    path = '/login',
    loginCommand = 'millrace open',
  }: { readonly path?: string; readonly loginCommand?: string } = {},
): Promise<string> {
  const link =
    token !== null && process.stdout.isTTY
      ? await call({ url, token }, 'createBrowserLink').catch(() => undefined)
      : undefined;
  if (!link) return `${url}/ (\`${loginCommand}\` logs you in)`;
  return `${url}${path}#link=${link.token} (valid for one login within ten minutes; later: \`${loginCommand}\`)`;
}
