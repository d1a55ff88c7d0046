import type { Queryable, Transaction } from '../../db/connect.ts';
import { retryOnConflict } from '../../db/retry.ts';
import type { ConnectedRunners } from '../../runners/runners.ts';
import { cancelAll } from '../bulk/act.ts';
import { notifyRunners } from './cancel.ts';
import type { Engine } from '../engine/engine.ts';

/** The tables that contain the unfinished runs of an environment. A run may be in two of them while it moves. */
const liveRunsIn = (sql: Queryable, env: number, atMost: number | null, onlyNew: boolean) => sql`
  (select l.run_id from leases l where l.env = ${env}::int and not (${onlyNew} and l.cancel_requested) limit ${atMost}::int)
  union
  (select s.run_id from suspended s where s.env = ${env}::int and not (${onlyNew} and s.cancel_requested) limit ${atMost}::int)
  union
  (select w.run_id from lanes n join queued w on w.lane_id = n.id where n.env = ${env}::int limit ${atMost}::int)
  union
  (select d.run_id from delayed d where d.env = ${env}::int limit ${atMost}::int)
  union
  (select p.run_id from pending_version p where p.env = ${env}::int limit ${atMost}::int)
  union
  -- held until their batch is sealed
  (select r.id from batches b
     join runs r on r.env = b.env and r.id >= batch_prefix(b.id) and r.id < batch_prefix(b.id) || '~'
    where b.sealed_at is null and b.aborted_at is null and b.env = ${env}::int and r.status is null limit ${atMost}::int)`;

/** How many runs of an environment have not ended. Reads all of them, so it is meant only for occasional interactive use. */
export async function countLiveRuns(sql: Queryable, env: number): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from (${liveRunsIn(sql, env, null, false)}) live`;
  return row?.count ?? 0;
}

export interface CancelLiveOptions {
  /** Called in the first transaction that cancels a run. */
  readonly record: (tx: Transaction) => Promise<void>;
  readonly atOnce?: number;
  /** The time after which no further transaction begins, in milliseconds. */
  readonly budgetMs?: number;
}

/**
 * Cancels the runs of an environment that have not ended and have no stop signal yet, in short transactions, for a few seconds at most. If a
 * call dies or runs out of time, the next one cancels the rest. Returns the number of canceled runs. Live attempts end a little later.
 */
export async function cancelLiveRuns(
  engine: Engine,
  runners: ConnectedRunners,
  env: number,
  { record, atOnce = 100, budgetMs = 5_000 }: CancelLiveOptions,
): Promise<number> {
  const { sql, clock, changes } = engine;
  const until = performance.now() + budgetMs;
  const done = new Set<string>();
  for (;;) {
    const { runs, live } = await retryOnConflict(() =>
      sql.begin(async (tx) => {
        const rows = await tx<{ run_id: string }[]>`
          select run_id from (${liveRunsIn(tx, env, atOnce, true)}) live order by run_id limit ${atOnce}`;
        const ids = rows.map(({ run_id }) => run_id);
        if (ids.length > 0 && done.size === 0) await record(tx);
        const { live: stopping } = await cancelAll(tx, env, ids, new Date(clock.now()));
        return { runs: ids, live: stopping };
      }),
    );
    notifyRunners(engine, runners, live);
    changes.someChanged(env);
    changes.changed(env, runs);
    const before = done.size;
    for (const run of runs) done.add(run);
    // Descendants end together with this run and may be found a second time.
    if (done.size === before || performance.now() > until) return done.size;
  }
}
