import type { SerializedError } from '@millrace/contract/runner';
import type { Sql } from '../../db/connect.ts';
import { knownFingerprints } from './known.ts';
import { prepareFailure } from './prepare.ts';
import { knownRules } from '../rules/known.ts';

/** A run is about to end with an error. */
export interface Failed {
  readonly env: number;
  readonly task: string;
  readonly error: SerializedError;
}

/** What the author of a task groups all its errors under. */
type OfTask = (env: number, task: string) => string | undefined | Promise<string | undefined>;

/** Tells the ids of the fingerprints of failures, which is all that the statement that ends their runs must know. */
export function identifyFailures(
  sql: Sql,
  ofTask: OfTask,
): (failures: readonly Failed[], now: Date) => Promise<readonly number[]> {
  const rulesOf = knownRules(sql);
  const idsOf = knownFingerprints(sql);
  return async (failures, now) => {
    if (failures.length === 0) return [];
    const matches = new Map<number, Awaited<ReturnType<typeof rulesOf>>>();
    for (const { env } of failures) if (!matches.has(env)) matches.set(env, await rulesOf(env));
    const tasks = new Map<string, string | undefined>();
    for (const { env, task } of failures) {
      const key = `${env} ${task}`;
      if (!tasks.has(key)) tasks.set(key, await ofTask(env, task));
    }
    return idsOf(
      failures.map(({ env, task, error }) =>
        prepareFailure(env, task, error, { match: matches.get(env), ofTask: tasks.get(`${env} ${task}`) }),
      ),
      now,
    );
  };
}
