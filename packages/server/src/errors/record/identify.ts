import type { SerializedError } from '@millrace/contract/runner';
import type { Sql } from '../../db/connect.ts';
import { Turns } from '../../json/turns.ts';
import { cachedFingerprints } from './cached-fingerprints.ts';
import { prepareFailure, type PreparedFailure } from './prepare.ts';
import { cachedRules } from '../rules/cached-rules.ts';

const turnMs = 5;

/** A run that is about to end with an error. */
export interface Failed {
  readonly env: number;
  readonly task: string;
  readonly error: SerializedError;
}

/** The fingerprint in a task's options, under which all its errors are grouped. */
type OfTask = (env: number, task: string) => string | undefined | Promise<string | undefined>;

/** Finds the fingerprint ids of failures, and all other data required by the statement that ends their runs. */
export function identifyFailures(
  sql: Sql,
  ofTask: OfTask,
): (failures: readonly Failed[], now: Date) => Promise<readonly number[]> {
  const rulesOf = cachedRules(sql);
  const idsOf = cachedFingerprints(sql);
  return async (failures, now) => {
    if (failures.length === 0) return [];
    const matches = new Map<number, Awaited<ReturnType<typeof rulesOf>>>();
    for (const { env } of failures) if (!matches.has(env)) matches.set(env, await rulesOf(env));
    const tasks = new Map<string, string | undefined>();
    for (const { env, task } of failures) {
      const key = `${env} ${task}`;
      if (!tasks.has(key)) tasks.set(key, await ofTask(env, task));
    }
    const prepared: PreparedFailure[] = [];
    const turns = new Turns(turnMs);
    for (const { env, task, error } of failures) {
      // Fingerprinting a maliciously slow text takes milliseconds. Requests are served in between.
      await turns.next();
      prepared.push(
        prepareFailure(env, task, error, { match: matches.get(env), ofTask: tasks.get(`${env} ${task}`) }),
      );
    }
    return idsOf(prepared, now);
  };
}
