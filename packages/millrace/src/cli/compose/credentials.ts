import { environmentKinds, type EnvironmentKind } from '@millrace/contract/plain';
import type { Credentials, BootstrapSettings } from '@millrace/server';
import { table, type Screen } from '../screen.ts';

/** Secrets to show: null for a revoked one, undefined for one that the operator provided. */
export interface ShownCredentials {
  readonly projectRef: string;
  readonly personalAccessToken: string | null | undefined;
  readonly environments: Readonly<Record<EnvironmentKind, { readonly secretKey: string | null | undefined }>>;
}

const orWhy = (secret: string | null | undefined): string =>
  secret ?? (secret === null ? 'revoked since the first start' : 'as set by MILLRACE_BOOTSTRAP_…');

/** Prints the credentials for a person. */
export function printCredentials(
  credentials: ShownCredentials,
  { line, paint }: Pick<Screen, 'line' | 'paint'>,
): void {
  const rows = [
    ['project', credentials.projectRef],
    ['personal access token', orWhy(credentials.personalAccessToken)],
    ...environmentKinds.map((kind) => [
      `${kind} secret key`,
      orWhy(credentials.environments[kind].secretKey),
    ]),
  ];
  for (const row of table(rows)) line(`  ${paint.dim(row.slice(0, 23))}${row.slice(23)}`);
}

/** The credentials without those that the operator provided. */
export const withoutProvided = (
  { projectRef, personalAccessToken, environments }: Credentials,
  provided: BootstrapSettings,
): ShownCredentials => ({
  projectRef,
  personalAccessToken: provided.personalAccessToken === undefined ? personalAccessToken : undefined,
  environments: Object.fromEntries(
    environmentKinds.map((kind) => [
      kind,
      { secretKey: provided.secretKeys[kind] === undefined ? environments[kind].secretKey : undefined },
    ]),
  ) as ShownCredentials['environments'],
});

/** Whether there is any secret to show. */
export const holdsSecrets = ({ personalAccessToken, environments }: ShownCredentials): boolean =>
  [personalAccessToken, ...Object.values(environments).map(({ secretKey }) => secretKey)].some(Boolean);

/** The line of `--json`: exactly these fields. */
export const credentialsJson = (url: string, credentials: ShownCredentials) => ({
  url,
  projectRef: credentials.projectRef,
  personalAccessToken: credentials.personalAccessToken,
  environments: Object.fromEntries(
    environmentKinds.map((kind) => [kind, { secretKey: credentials.environments[kind].secretKey }]),
  ),
});
