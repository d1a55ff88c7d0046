import { machinePresets, type Outcome } from '@millrace/contract/runner';
import { column, type Value } from '../../db/columns.ts';
import type { Sql } from '../../db/connect.ts';
import { groupCommit } from '../../db/group.ts';
import { identifyFailures } from '../../errors/record/identify.ts';
import type { StoppingAttempt } from '../cancel/cancel.ts';
import type { Dispatch } from '../dispatch/dispatch.ts';
import type { Engine } from '../engine/engine.ts';
import { storableJson, storableText } from '../values/storable.ts';
import type { Complete, Completion, EndedAttempt } from './attempt.ts';

export interface WriteDependencies {
  readonly engine: Engine;
  /** Separate connections, so that outcomes never wait behind the queries of requests. */
  readonly engineSql: Sql;
  readonly dispatch: Pick<Dispatch, 'wake' | 'expect'>;
  readonly resume: (env: number) => void;
}

/**
 * Writes how attempts ended and adds their failures to error groups in the same transaction. Concurrent calls share a statement and a
 * commit. Two writes may be in progress: while one waits for the disk, the next one is computed.
 */
export function createWriteOutcome(dependencies: WriteDependencies): Complete {
  const { engine, engineSql } = dependencies;
  const identify = identifyFailures(
    engineSql,
    async (env, task) => (await engine.versions.current(env))?.tasks.get(task)?.fingerprint,
  );
  return groupCommit<EndedAttempt, Completion>(
    (attempts) => writeOutcomes(dependencies, identify, attempts),
    {
      inFlight: 2,
      tenantOf: ({ env }) => env,
      onWrite: (items) => engine.stats.wrote('complete', items),
    },
  );
}

const kinds: Readonly<Record<Exclude<Outcome['kind'], 'failed' | 'released'>, string>> = {
  completed: 'COMPLETED',
  retry: 'retry',
  canceled: 'CANCELED',
  unknownTask: 'pending_version',
};

/** One year. A longer pause is of no use to a task and may not fit into a date. */
export const maxPauseMs = 366 * 86_400_000;

async function writeOutcomes(
  { engine, engineSql, dispatch, resume }: WriteDependencies,
  identify: ReturnType<typeof identifyFailures>,
  attempts: readonly EndedAttempt[],
): Promise<Completion[]> {
  const now = engine.clock.now();
  const rows = attempts.map((attempt) => ({ ...attempt, ...readOutcome(attempt, now) }));
  const failed = rows.flatMap(({ env, task, failure }) => (failure ? [{ env, task, error: failure }] : []));
  const fingerprints = (await identify(failed, new Date(now))).values();
  const fingerprintOf = new Map<object, number | null>(
    rows.flatMap((row) => (row.failure ? [[row, fingerprints.next().value ?? null] as const] : [])),
  );
  const pick = (read: (row: (typeof rows)[number]) => Value) => column(rows, read);
  const recorded = await engineSql<RecordedRow[]>`
    select * from complete_attempts(
      ${new Date(now)},
      ${pick((row) => row.env)}::int[],
      ${pick((row) => row.run)}::text[],
      ${pick((row) => row.fence)}::bigint[],
      ${pick((row) => row.kind)}::text[],
      ${pick((row) => row.output)}::text[],
      ${pick((row) => row.outputType)}::text[],
      ${pick((row) => row.error)}::text[]::jsonb[],
      ${pick((row) => row.due)}::timestamptz[],
      ${pick((row) => fingerprintOf.get(row))}::int[],
      ${pick((row) => (Number.isInteger(row.revision) ? row.revision : null))}::int[])`;

  const completions: Completion[] = attempts.map(() => ({ stale: true, kind: undefined }));
  const freed = new Set<number>();
  const ready = new Set<number>();
  // Each row contains all attempts that must stop; only one completion passes them on.
  let stopping = stoppingIn(recorded[0]);
  for (const { ix, kind, limited, woke } of recorded) {
    const row = rows[ix - 1];
    if (!row) continue;
    completions[ix - 1] = { stale: false, kind, ...(stopping && { stopping }) };
    stopping = undefined;
    if (woke) ready.add(row.env);
    if (limited || kind === 'released' || kind === 'returned') freed.add(row.env);
    if (kind === 'retry' && row.due) dispatch.expect(row.due.getTime());
  }
  for (const env of ready) resume(env);
  for (const env of freed) dispatch.wake(env);
  return completions;
}

interface RecordedRow {
  readonly ix: number;
  readonly kind: string;
  readonly limited: boolean;
  readonly woke: boolean;
  readonly stopping_runner: string[] | null;
  readonly stopping_fence: string[] | null;
}

const stoppingIn = (row: RecordedRow | undefined): StoppingAttempt[] | undefined =>
  row?.stopping_runner?.map((runner, index) => ({
    runner_id: runner,
    fence: row.stopping_fence?.[index] as string,
  }));

/** The columns of one outcome. */
function readOutcome({ outcome }: EndedAttempt, now: number) {
  const blank = { output: null, outputType: null, error: null, due: null, failure: undefined };
  switch (outcome.kind) {
    case 'completed':
      return {
        ...blank,
        kind: kinds.completed,
        output: outcome.output === null ? null : storableText(outcome.output),
        outputType: outcome.outputType,
      };
    case 'failed':
      return {
        ...blank,
        kind: outcome.status,
        error: storableJson(outcome.error),
        failure: outcome.error,
      };
    case 'retry':
      return {
        ...blank,
        kind: kinds.retry,
        error: storableJson(outcome.error),
        // Not an occurrence, but stored along with its group.
        failure: outcome.error,
        due: new Date(now + Math.min(maxPauseMs, Math.max(0, outcome.delayMs))),
        // A runner may send anything.
        output: machinePresets.find((machine) => machine === outcome.machine) ?? null,
      };
    case 'released':
      return { ...blank, kind: outcome.started === true ? 'returned' : 'released' };
    default:
      return { ...blank, kind: kinds[outcome.kind] };
  }
}
