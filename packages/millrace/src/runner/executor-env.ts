import { createHash } from 'node:crypto';
import type { EnvironmentFacts } from '@millrace/contract/runner';
import type { ExecutorSurroundings } from './pool.ts';

/** What processes inherit unless the runner is told otherwise: everything but our own settings. */
export function inherited(): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name, value]) => value !== undefined && !name.startsWith('MILLRACE_'),
  );
  return Object.fromEntries(kept) as Record<string, string>;
}

/** `process.env` of executors: inherited, then the environment's variables, then what the SDK needs inside tasks. */
export function surroundings(
  base: Readonly<Record<string, string>>,
  variables: Readonly<Record<string, string>>,
  { url, secretKey }: { readonly url: string; readonly secretKey: string },
  environment: EnvironmentFacts,
  variablesRevision?: number,
): ExecutorSurroundings {
  const env = {
    ...base,
    ...variables,
    MILLRACE_API_URL: url,
    MILLRACE_SECRET_KEY: secretKey,
    ...(environment.branch !== null && { MILLRACE_PREVIEW_BRANCH: environment.branch }),
  };
  const sorted = Object.entries(env).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const revision = createHash('sha256').update(JSON.stringify(sorted)).digest('hex');
  return { env, environment, revision, variablesRevision };
}
