import type { Environment } from '../../auth/principal.ts';
import { column } from '../../db/columns.ts';
import type { Transaction } from '../../db/connect.ts';
import { asProblem } from '../../problem.ts';
import { markCanceled, type StoppingAttempt } from '../cancel/cancel.ts';
import type { Engine } from '../engine/engine.ts';
import { insertRuns } from '../create/insert.ts';
import { redactMetadata, type FindRedactor } from '../create/redact-metadata.ts';
import { prepareReplay } from '../create/replay.ts';

/** The result for a processed run. */
export interface Acted {
  readonly run: string;
  readonly ok: boolean;
  /** The id of the replay. */
  readonly replayId?: string;
}

/** Cancels runs and their descendants. Ended or missing runs are not counted. */
export async function cancelAll(
  tx: Transaction,
  env: number,
  runs: readonly string[],
  at: Date,
): Promise<{ acted: Acted[]; live: StoppingAttempt[] }> {
  const alive = await tx<{ id: string }[]>`
    select id from runs where env = ${env} and id = any(${runs}::text[]) and status is null`;
  const ids = new Set(alive.map(({ id }) => id));
  const live: StoppingAttempt[] = [];
  // Sorted, because all transactions that lock several runs must use the same order.
  for (const id of [...ids].toSorted()) live.push(...(await markCanceled(tx, env, id, at)));
  return { acted: runs.map((run) => ({ run, ok: ids.has(run) })), live };
}

/** Replays runs. A deleted run cannot be replayed, nor can a run whose data the server no longer accepts. */
export async function replayAll(
  tx: Transaction,
  engine: Engine,
  environment: Environment,
  runs: readonly string[],
  redactor: FindRedactor,
): Promise<Acted[]> {
  const prepared = await Promise.all(
    runs.map(async (run) => {
      try {
        const replay = await prepareReplay(engine, environment, run);
        return { run, replay: replay && (await redactMetadata(redactor, replay)) };
      } catch (error) {
        if ((asProblem(error)?.status ?? 500) < 500) return { run, replay: undefined };
        throw error;
      }
    }),
  );
  const replays = prepared.flatMap(({ replay }) => (replay ? [replay] : []));
  if (replays.length > 0) await insertRuns({ sql: tx, clock: engine.clock }, replays);
  return prepared.map(({ run, replay }) => ({ run, ok: replay !== undefined, replayId: replay?.id }));
}

/** Records the results in the same transaction. */
export async function noteActed(
  tx: Transaction,
  env: number,
  id: string,
  acted: readonly Acted[],
  at: Date,
): Promise<void> {
  const done = acted.filter(({ ok }) => ok).length;
  // Updates row by row through the key, because the table has just been filled and has no statistics for planning a join.
  await tx`
    update bulk_runs b set ok = i.ok, replay_id = i.replay_id
      from unnest(${column(acted, ({ run }) => run)}::text[], ${column(acted, ({ ok }) => ok)}::text[]::boolean[],
                  ${column(acted, ({ replayId }) => replayId ?? null)}::text[]) as i (run_id, ok, replay_id)
     cross join lateral (
       select x.ctid as row_id from bulk_runs x
        where x.env = ${env} and x.bulk_id = ${id} and x.run_id = i.run_id limit 1) x
     where b.ctid = x.row_id`;
  await tx`
    update bulk_actions set success = success + ${done}, failure = failure + ${acted.length - done}, worked_at = ${at}
     where env = ${env} and id = ${id}`;
}
