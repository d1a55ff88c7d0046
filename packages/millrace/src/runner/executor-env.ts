import { createHash } from 'node:crypto';
import type { EnvironmentFacts } from '@millrace/contract/runner';
import type { ExecutorSurroundings } from './pool.ts';

/** What Millrace itself reaches its database with. A task's own address of a database is a variable of its environment. */
const ownDatabase = new Set([
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'PGPASSWORD',
  'PGPASSFILE',
  'PGSERVICE',
  'PGSERVICEFILE',
]);

/** Settings of ours, the credentials among them. Windows takes names in any case. */
const isOwn = (name: string): boolean => name.toUpperCase().startsWith('MILLRACE_');

/** What processes inherit unless the runner is told otherwise: everything but our own settings and our own database. */
export function inherited(): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name, value]) => value !== undefined && !isOwn(name) && !ownDatabase.has(name.toUpperCase()),
  );
  return Object.fromEntries(kept) as Record<string, string>;
}

/**
 * What executors have in `process.env`. They are started with what is inherited; the environment's variables, and what the SDK needs, are
 * added once they run: a value must not be able to steer the start of a process. Neither holds a credential.
 */
export function surroundings(
  base: Readonly<Record<string, string>>,
  variables: Readonly<Record<string, string>>,
  { url }: { readonly url: string },
  environment: EnvironmentFacts,
  variablesRevision?: number,
): ExecutorSurroundings {
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
