import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Transaction } from '../../db/connect.ts';
import { testEngine } from '../testing/engine.ts';
import { addRows, rolledBack } from '../testing/rows.ts';
import { numRuns } from '../../../../../test/support/long.ts';

/** Seconds: longer than the test takes. */
const window = 3_600;
const retainedLanes = 8;

interface RetiredLanes {
  readonly rate_limited: readonly number[];
  readonly at_limit: readonly number[];
  readonly misplaced: readonly number[];
  readonly empty: readonly number[];
}

const retireLanes = (tx: Transaction, lanes: RetiredLanes): Promise<unknown> =>
  tx`select retire_lanes(jsonb_populate_record(null::retired_lanes, ${JSON.stringify(lanes)}::jsonb))`;

const queue = fc.record({
  settings: fc.record({
    concurrency_limit: fc.option(fc.integer({ min: 0, max: 2 })),
    concurrency_override: fc.option(fc.integer({ min: 0, max: 2 }), { freq: 3 }),
    paused: fc.constantFrom(false, false, true),
    shared_limit_id: fc.constantFrom(null, 501, 502),
  }),
  byKey: fc.boolean(),
  burst: fc.integer({ min: 1, max: 3 }),
  /** Seconds since the starts of each key, or of the queue. There are at least as many starts as the burst. */
  ages: fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 3, maxLength: 5 }),
});
const draw = fc.record({
  /** The first two have a rate limit without any start left. */
  queues: fc.array(queue, { minLength: 4, maxLength: 4 }),
  lanes: fc.array(
    fc.record({
      queue: fc.nat(3),
      /** Another lane of the key has a different pinned version. */
      key: fc.constantFrom('', 'a', 'b'),
      runs: fc.nat(2),
      ring: fc.constantFrom(0, 501, 502),
      /** The list that a claim has put it in. Rate-limited lanes without any start left are in that list or in none. */
      list: fc.constantFrom('none', 'at_limit', 'empty', 'empty'),
      isMisplaced: fc.boolean(),
    }),
    { maxLength: 30, size: 'max' },
  ),
  leases: fc.array(fc.record({ queue: fc.nat(3), key: fc.constantFrom('', 'a', 'b') }), { maxLength: 8 }),
});

test('a lane with runs remains, and is blocked only while its limit is reached; a few lanes without runs are kept', async () => {
  const t = await testEngine();
  const env = t.environment.id;
  await fc.assert(
    fc.asyncProperty(draw, (input) =>
      rolledBack(t.sql, async (tx) => {
        const [clock] = await tx<{ now: number }[]>`select extract(epoch from rate_now())::float8 as now`;
        const now = Math.floor(clock!.now);
        const isRateLimited = (index: number) => index < 2;
        const lanes = input.lanes.map(({ list, ...lane }, index) => ({
          ...lane,
          id: index + 1,
          list: isRateLimited(lane.queue) && list !== 'none' ? 'rate_limited' : list,
        }));
        const idsOf = (list: string) => lanes.filter((lane) => lane.list === list).map(({ id }) => id);
        const keys = ['', 'a', 'b'];
        await addRows(tx, {
          queues: input.queues.map(({ byKey, burst, settings }, index) => ({
            id: 1_001 + index,
            env,
            name: `queue ${index}`,
            ...settings,
            rate_limit: isRateLimited(index)
              ? { limit: burst, burst, period: window, ...(byKey && { key: 'concurrencyKey' }) }
              : null,
          })),
          lanes: lanes.map(({ id, queue: index, key, ring }) => ({
            id,
            env,
            queue_id: 1_001 + index,
            key,
            pinned_version: id,
            ring,
          })),
          queued: lanes.flatMap(({ id, runs }) =>
            Array.from({ length: runs }, (_, n) => ({
              env,
              lane_id: id,
              sort_key: n,
              run_id: `run ${id}/${n}`,
            })),
          ),
          leases: input.leases.map(({ queue: index, key }, n) => ({
            env,
            run_id: `lease ${n}`,
            runner_id: 'r',
            queue_id: 1_001 + index,
            key,
            version_id: 1,
            attempt: 1,
            leased_at: new Date(now * 1_000),
          })),
          queue_starts: input.queues.slice(0, 2).flatMap(({ byKey, ages }, index) =>
            (byKey ? keys : ['']).map((key) => ({
              env,
              queue_id: 1_001 + index,
              key,
              at: ages.toSorted((a, b) => b - a).map((age) => new Date((now - age) * 1_000)),
              n: ages.map(() => 1),
              total: ages.length,
            })),
          ),
        });
        await retireLanes(tx, {
          rate_limited: idsOf('rate_limited'),
          at_limit: idsOf('at_limit'),
          misplaced: lanes.filter(({ isMisplaced }) => isMisplaced).map(({ id }) => id),
          empty: idsOf('empty'),
        });

        const rows = await tx<
          { id: number; blocked: boolean; isRateLimited: boolean; ring: number; due: number | null }[]
        >`
          select l.id::int, l.blocked, l.rate_limited_at is not null as "isRateLimited", l.ring, extract(epoch from s.due)::float8 as due
            from lanes l join queues q on q.id = l.queue_id
            left join queue_starts s on s.queue_id = q.id and s.key = case when q.rate_by_key then l.key else '' end
           where l.env = ${env}`;
        const after = new Map(rows.map((row) => [row.id, row]));
        /** Lists that are long enough for their empty lanes to be deleted. */
        const isLong = {
          rate_limited:
            lanes.filter(({ list, runs }) => list === 'rate_limited' && runs === 0).length > retainedLanes,
          empty: idsOf('empty').length > retainedLanes,
        };
        for (const { id, queue: index, key, runs, ring, list, isMisplaced } of lanes) {
          const row = after.get(id);
          const isDropped =
            runs === 0 &&
            ((list === 'rate_limited' && isLong.rate_limited) || (list === 'empty' && isLong.empty));
          expect(row === undefined, `lane ${id} is deleted`).toBe(isDropped);
          if (!row) continue;
          const { burst, ages, settings } = input.queues[index]!;
          const limit = settings.concurrency_override ?? settings.concurrency_limit ?? Infinity;
          const running = input.leases.filter((lease) => lease.queue === index && lease.key === key).length;
          const isUsedUp = settings.paused || running >= limit;
          const waitsForStart = list === 'rate_limited' && runs > 0;
          expect(row.isRateLimited).toBe(waitsForStart);
          expect(row.blocked, `lane ${id} is blocked`).toBe(
            waitsForStart || (list === 'at_limit' && isUsedUp),
          );
          expect(row.ring).toBe(isMisplaced ? (settings.shared_limit_id ?? 0) : ring);
          if (!waitsForStart) continue;
          // It returns when the first start leaves the window after which fewer than the burst remain.
          const over = ages.filter((age) => ages.filter((later) => later < age).length < burst);
          expect(row.due).toBe(now - Math.max(...over) + window);
        }
      }),
    ),
    { numRuns: numRuns(60) },
  );
});
