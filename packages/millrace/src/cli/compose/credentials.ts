import { environmentKinds } from '@millrace/contract';
import type { Credentials } from '@millrace/server';
import { table, type Screen } from '../screen.ts';

const revoked = 'revoked since the first start';

/** The block that a person copies from. */
export function printCredentials(
  credentials: Credentials,
  { line, paint }: Pick<Screen, 'line' | 'paint'>,
): void {
  const rows = [
    ['project', credentials.projectRef],
    ['personal access token', credentials.personalAccessToken ?? revoked],
    ...environmentKinds.map((kind) => [
      `${kind} secret key`,
      credentials.environments[kind].secretKey ?? revoked,
    ]),
  ];
  for (const row of table(rows)) line(`  ${paint.dim(row.slice(0, 23))}${row.slice(23)}`);
}

/** The one line of `--json`: exactly these fields. */
export const credentialsJson = (url: string, credentials: Credentials) => ({
  url,
  projectRef: credentials.projectRef,
  personalAccessToken: credentials.personalAccessToken,
  environments: Object.fromEntries(
    environmentKinds.map((kind) => [kind, { secretKey: credentials.environments[kind].secretKey }]),
  ),
});
