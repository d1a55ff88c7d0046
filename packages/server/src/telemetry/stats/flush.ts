import { randomUUID } from 'node:crypto';
import type { Clock } from '../../db/clock.ts';
import type { Sql } from '../../db/connect.ts';
import { isDataError } from '../../db/errors.ts';
import type { Job } from '../../jobs/job.ts';
import { tiers, versionTaskWidth } from './range.ts';
import { counted, mergeInto, type Counted, type Pending, type RunStats, type Subject } from './record.ts';
import { isVersionTask } from './series.ts';

export interface FlushDependencies {
  readonly sql: Sql;
  readonly clock: Pick<Clock, 'now'>;
  readonly stats: RunStats;
}

/** Maximum arrivals of one flush. */
const maxArrivals = 1_000;

const maxPauseMs = 5_000;

/** The interval of additions to roll-ups wider than minutes. */
const coarseMs = 10_000;
const coarseWidths = tiers.map(({ widthMinutes }) => widthMinutes).filter((width) => width > 1);

interface Flush {
  readonly number: number;
  readonly widths: readonly number[];
  /** Milliseconds since 1970. */
  readonly minute: number;
  /** The rows as JSON. */
  readonly rows: string;
}

/**
 * The job that adds the counts of this process to `run_stats`: each second to minutes, every ten seconds to wider roll-ups. Each addition
 * is a numbered flush, which is sent until PostgreSQL has stored it; adding it twice has no effect. After a long flush it pauses for ten
 * times as long, up to five seconds.
 */
export function statsFlusher({ sql, clock, stats }: FlushDependencies): Job {
  const process = randomUUID();
  let number = 0;
  /** Flushes that are not known to be stored. */
  const unsent: Flush[] = [];
  let notBefore = 0;
  /** Counts that wider roll-ups do not have yet. */
  let coarse: Pending = new Map();
  let coarseAt = 0;

  const send = async (): Promise<void> => {
    for (let next = unsent[0]; next; next = unsent[0]) {
      try {
        await sql`select add_run_stats(${process}, ${next.number}, ${new Date(next.minute)}, ${[...next.widths]}::int[], ${next.rows}::text::jsonb)`;
      } catch (error) {
        // It can never be stored and must not delay later flushes.
        if (isDataError(error)) unsent.shift();
        throw error;
      }
      unsent.shift();
    }
  };
  const add = (pending: Pending, widths: readonly number[], kind: 'versionTask' | 'others'): void => {
    for (const [minute, series] of pending) {
      const rows = rowsOf(
        [...series.values()].filter((entry) => isVersionTask(entry.series) === (kind === 'versionTask')),
      );
      if (rows.length > 0) unsent.push({ number: ++number, minute, widths, rows: JSON.stringify(rows) });
    }
  };
  const flush = async (isLast: boolean): Promise<boolean> => {
    await send();
    const isMore = await countArrivals(sql, stats);
    const taken = stats.take();
    add(taken, [1], 'others');
    mergeInto(coarse, taken);
    if (isLast || clock.now() >= coarseAt) {
      add(coarse, coarseWidths, 'others');
      add(coarse, [versionTaskWidth], 'versionTask');
      coarse = new Map();
      coarseAt = clock.now() + coarseMs;
    }
    await send();
    return isMore;
  };

  return {
    name: 'stats flusher',
    everyMs: 1_000,
    async tick() {
      if (clock.now() < notBefore) return new Date(notBefore);
      const begun = performance.now();
      const isMore = await flush(false);
      notBefore = clock.now() + Math.min(maxPauseMs, 10 * (performance.now() - begun));
      return isMore;
    },
    // If PostgreSQL is unavailable, the last second is lost, but the server must stop anyway.
    stop: () => flush(true).catch(() => {}),
  };
}

interface Arrival extends Subject {
  readonly what: Counted;
  readonly at: Date;
  readonly n: number;
}

/** Counts the arrivals written within transactions. Returns whether there may be more. */
async function countArrivals(sql: Sql, stats: RunStats): Promise<boolean> {
  const arrivals = await sql<Arrival[]>`
    with gone as (
      delete from run_stat_arrivals where ctid = any(array(
        select ctid from run_stat_arrivals limit ${maxArrivals} for update skip locked))
      returning *
    )
    select g.env, g.task, q.name as queue, v.version, g.what, g.at, g.n
      from gone g left join queues q on q.id = g.queue_id left join versions v on v.id = g.version_id`;
  for (const { what, at, n, env, task, queue, version } of arrivals)
    stats.count(
      { env, task, queue: queue ?? undefined, version: version ?? undefined },
      what,
      at.getTime(),
      n,
    );
  return arrivals.length >= maxArrivals;
}

type Entry = Pending extends Map<number, Map<string, infer E>> ? E : never;

const zeros = Object.fromEntries(counted.map((what) => [what, 0]));

const rowsOf = (entries: readonly Entry[]) =>
  entries.map(({ env, series: name, counts }) => {
    const { waited, lasted, maxWaiting, maxOldestMs, ...numbers } = counts;
    return {
      ...zeros,
      ...numbers,
      env,
      series: name,
      waited_from: waited?.dense().from ?? null,
      waited: waited?.dense().counts ?? [],
      waited_ms: Math.round(waited?.sum ?? 0),
      lasted_from: lasted?.dense().from ?? null,
      lasted: lasted?.dense().counts ?? [],
      lasted_ms: Math.round(lasted?.sum ?? 0),
      max_waiting: maxWaiting ?? null,
      max_oldest_ms: maxOldestMs === undefined ? null : Math.round(maxOldestMs),
    };
  });
