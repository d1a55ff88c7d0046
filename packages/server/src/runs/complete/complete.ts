import type { Outcome, Settlement } from '@millrace/contract/runner';
import { column, type Value } from '../../db/columns.ts';
import type { Sql } from '../../db/connect.ts';
import { groupCommit } from '../../db/group.ts';
import { identifyFailures } from '../../errors/record/identify.ts';
import type { Held } from '../../runners/runners.ts';
import type { AskedToStop } from '../cancel.ts';
import type { Dispatch } from '../dispatch/dispatch.ts';
import type { Engine } from '../engine.ts';
import { storableJson, storableText } from '../storable.ts';

/** How an attempt ended, with whose it was. */
export interface EndedAttempt extends Held, Settlement {}

export interface Settled {
  /** The fence was not live: nothing was recorded. */
  readonly stale: boolean;
  /** What became of the run: a final status, or `retry`, `released`, `parked`. */
  readonly kind: string | undefined;
  /** Live attempts, of runs below it, that this asked to stop; their runners do not know yet. */
  readonly asked?: readonly AskedToStop[];
}

/**
 * Records how attempts ended, their error groups with them. Concurrent calls share a statement and a commit. Two writes may be
 * under way: while one waits for the disk, the next one is worked out.
 */
export function createSettle(
  engine: Engine,
  sql: Sql,
  dispatch: Dispatch,
  resume: (env: number) => void,
): (ended: EndedAttempt) => Promise<Settled> {
  const identify = identifyFailures(
    sql,
    async (env, task) => (await engine.versions.current(env))?.tasks.get(task)?.fingerprint,
  );
  return groupCommit<EndedAttempt, Settled>(
    (attempts) => writeOutcomes({ engine, sql, dispatch, resume, identify }, attempts),
    { inFlight: 2 },
  );
}

interface Settling {
  readonly engine: Engine;
  readonly sql: Sql;
  readonly dispatch: Dispatch;
  readonly resume: (env: number) => void;
  readonly identify: ReturnType<typeof identifyFailures>;
}

const kinds: Readonly<Record<Exclude<Outcome['kind'], 'failed'>, string>> = {
  completed: 'COMPLETED',
  retry: 'retry',
  canceled: 'CANCELED',
  released: 'released',
  unknownTask: 'parked',
};

/** A year: no task means to be tried again later than that, and a date must come of it. */
export const maxPauseMs = 366 * 86_400_000;

async function writeOutcomes(
  { engine, sql, dispatch, resume, identify }: Settling,
  attempts: readonly EndedAttempt[],
): Promise<Settled[]> {
  const now = engine.clock.now();
  const rows = attempts.map((attempt) => ({ ...attempt, ...readOutcome(attempt, now) }));
  const failed = rows.flatMap(({ env, task, failure }) => (failure ? [{ env, task, error: failure }] : []));
  const fingerprints = (await identify(failed, new Date(now))).values();
  const fingerprintOf = new Map<object, number | null>(
    rows.flatMap((row) => (row.failure ? [[row, fingerprints.next().value ?? null] as const] : [])),
  );
  const pick = (read: (row: (typeof rows)[number]) => Value) => column(rows, read);
  const recorded = await sql<RecordedRow[]>`
    select * from settle_runs(
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

  const settled: Settled[] = attempts.map(() => ({ stale: true, kind: undefined }));
  const freed = new Set<number>();
  const ready = new Set<number>();
  // All that were asked to stop are in each row.
  let asked = askedIn(recorded[0]);
  for (const { ix, kind, limited, woke } of recorded) {
    const row = rows[ix - 1];
    if (!row) continue;
    settled[ix - 1] = { stale: false, kind, ...(asked && { asked }) };
    asked = undefined;
    if (woke) ready.add(row.env);
    if (limited || kind === 'released') freed.add(row.env);
    if (kind === 'retry' && row.due) dispatch.expect(row.due.getTime());
  }
  for (const env of ready) resume(env);
  for (const env of freed) dispatch.wake(env);
  return settled;
}

interface RecordedRow {
  readonly ix: number;
  readonly kind: string;
  readonly limited: boolean;
  readonly woke: boolean;
  readonly asked_runner: string[] | null;
  readonly asked_fence: string[] | null;
}

const askedIn = (row: RecordedRow | undefined): AskedToStop[] | undefined =>
  row?.asked_runner?.map((runner, index) => ({
    runner_id: runner,
    fence: row.asked_fence?.[index] as string,
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
        due: new Date(now + Math.min(maxPauseMs, Math.max(0, outcome.delayMs))),
      };
    default:
      return { ...blank, kind: kinds[outcome.kind] };
  }
}
