import { createHash } from 'node:crypto';
import type { EnvironmentInfo } from '@millrace/contract/runner';
import type { ExecutorEnvironment } from './pool.ts';

/** Millrace's own database settings. Tasks get their databases from their environment's variables. */
const ownDatabase = new Set([
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'PGPASSWORD',
  'PGPASSFILE',
  'PGSERVICE',
  'PGSERVICEFILE',
]);

/** Millrace's own settings, including credentials. Case-insensitive, as on Windows. */
const isOwn = (name: string): boolean => name.toUpperCase().startsWith('MILLRACE_');

/** The default of what processes inherit: everything except Millrace's own settings and database. */
export function inherited(): Record<string, string> {
  const entries = Object.entries(process.env).filter(
    ([name, value]) => value !== undefined && !isOwn(name) && !ownDatabase.has(name.toUpperCase()),
  );
  return Object.fromEntries(entries) as Record<string, string>;
}

/**
 * The `process.env` of executors. A process starts with the inherited variables only. The environment's variables and the SDK's settings
 * are added once it runs, so that their values cannot affect its start. Neither contains a credential.
 */
export function executorEnvironment(
  base: Readonly<Record<string, string>>,
  variables: Readonly<Record<string, string>>,
  { url }: { readonly url: string },
  environment: EnvironmentInfo,
  variablesRevision?: number,
): ExecutorEnvironment {
  const inheritedEnv = Object.fromEntries(Object.entries(base).filter(([name]) => !isOwn(name)));
  const added = {
    ...variables,
    MILLRACE_API_URL: url,
    ...(environment.branch !== null && { MILLRACE_PREVIEW_BRANCH: environment.branch }),
  };
  const sorted = [inheritedEnv, added].map((env) =>
    Object.entries(env).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
  const revision = createHash('sha256').update(JSON.stringify(sorted)).digest('hex');
  return { env: { inherited: inheritedEnv, added }, environment, revision, variablesRevision };
}
