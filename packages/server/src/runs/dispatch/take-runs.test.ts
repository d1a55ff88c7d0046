import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Queryable } from '../../db/connect.ts';
import type { ClaimScope, LanePage, LaneShare } from '../testing/claim-parts.ts';
import { testEngine, type TestEngine } from '../testing/engine.ts';
import { addRows, rolledBack } from '../testing/rows.ts';
import { numRuns } from '../../../../../test/support/long.ts';

const now = Date.UTC(2026, 10, 24);
const start = 99;

interface Lease {
  readonly run_id: string;
  readonly fence: number;
  readonly attempt: number;
  readonly version_id: number;
  readonly queue_id: number;
  readonly key: string;
  readonly sort_key: number;
}

interface Taken {
  readonly leases: readonly Lease[] | null;
  readonly stopped: { readonly turn: number; readonly credit: number; readonly newest: number | null } | null;
  readonly has_more: boolean;
  readonly emptied: readonly number[];
}

async function takeRuns(
  sql: Queryable,
  scope: ClaimScope,
  page: Partial<LanePage>,
  shares: readonly LaneShare[],
  want: number,
): Promise<Taken> {
  const [row] = await sql<{ taken: Taken }[]>`
    select to_jsonb(take_runs(
             jsonb_populate_record(null::claim_scope, ${JSON.stringify(scope)}::jsonb),
             jsonb_populate_record(null::lane_page, ${JSON.stringify(page)}::jsonb),
             array(select s from jsonb_populate_recordset(null::lane_share, ${JSON.stringify(shares)}::jsonb) as s), ${want})) as taken`;
  return row!.taken;
}

const draw = fc.record({
  lanes: fc.array(
    fc.record({
      weight: fc.integer({ min: 1, max: 3 }),
      room: fc.oneof(fc.nat(6), fc.constant(30)),
      pinned: fc.boolean(),
      /** Lanes of one group share its cap. */
      group: fc.nat(3),
    }),
    { minLength: 1, maxLength: 5, size: 'max' },
  ),
  caps: fc.array(fc.oneof(fc.nat(6), fc.constant(30)), { minLength: 4, maxLength: 4 }),
  /** For each existing run: its lane, if it waits in one. */
  runs: fc.array(
    fc.record({ lane: fc.nat(4), sortKey: fc.nat(5), isExpired: fc.constantFrom(false, false, false, true) }),
    { minLength: 8, maxLength: 32, size: 'max' },
  ),
  fullTurns: fc.nat(2),
  isCut: fc.boolean(),
  want: fc.integer({ min: 1, max: 24 }),
  credit: fc.nat(2),
  first: fc.nat(3),
  wrapped: fc.boolean(),
  newest: fc.option(fc.integer({ min: 0, max: 6 })),
  canary: fc.option(
    fc.record({ percent: fc.integer({ min: 1, max: 99 }), only: fc.constantFrom(null, true, false) }),
  ),
});
type Draw = typeof draw extends fc.Arbitrary<infer T> ? T : never;

interface Run {
  readonly id: string;
  readonly task: string;
  readonly queue_id: number;
  readonly key: string;
}

interface Started {
  readonly t: TestEngine;
  readonly runs: readonly Run[];
  readonly versions: { readonly current: number; readonly canary: number };
}

/** Runs of two tasks, one of which the canary has. */
async function started(): Promise<Started> {
  const t = await testEngine();
  const { id: canary } = await t.register('both');
  const { id: current } = await t.register('both', 'old');
  await t.addRunner('r');
  await Promise.all(
    Array.from({ length: 32 }, (_, n) =>
      t.trigger(n % 2 ? 'both' : 'old', n % 3 ? { concurrencyKey: `k${n % 3}` } : {}),
    ),
  );
  const runs = await t.sql<Run[]>`
    select id, task, queue_id, coalesce(concurrency_key, '') as key from runs order by id`;
  await t.sql`delete from queued`;
  return { t, runs, versions: { current, canary } };
}

const isCanaryShare = (id: string, percent: number): boolean =>
  Number.parseInt(createHash('md5').update(id).digest('hex').slice(0, 8), 16) % 100 < percent;

interface Waiting {
  readonly run: Run;
  readonly sortKey: number;
}

/** The runs that a claim takes, one after the other, up to the requested number. */
function modelOf(input: Draw, shares: readonly LaneShare[], waiting: readonly (readonly Waiting[])[]) {
  const queues = waiting.map((runs) => [...runs]);
  const taken: { waiting: Waiting; lane: number }[] = [];
  const room = new Map(shares.map(({ queue_key: group, cap }) => [group, cap]));
  const counts = shares.map(() => 0);
  const take = (index: number, max: number): number => {
    const { queue_key: group, max_runs } = shares[index]!;
    let count = 0;
    while (count < max && counts[index]! < max_runs && room.get(group)! > 0 && taken.length < input.want) {
      const next = queues[index]!.shift();
      if (!next) break;
      taken.push({ waiting: next, lane: index });
      counts[index]!++;
      count++;
      room.set(group, room.get(group)! - 1);
    }
    return count;
  };
  const { first } = input;
  const order = shares.map((_, index) => index);
  // The lane that had the rest of a turn is last in ring order.
  if (shares[first]?.credit) order.push(...order.splice(first, 1));
  const creditUsed = shares[first] ? take(first, shares[first].credit) : 0;
  for (const index of order) take(index, shares[index]!.in_full_turns);
  let last: { lane: number; count: number } | undefined;
  for (const lane of order) {
    const count = take(lane, shares[lane]!.weight);
    if (count > 0) last = { lane, count };
  }
  return { taken, creditUsed, last, left: queues };
}

test('a claim takes the oldest runs of each lane, within its share, and leases only these', async () => {
  const { t, runs, versions } = await started();
  const env = t.environment.id;
  await fc.assert(
    fc.asyncProperty(draw, (input) =>
      rolledBack(t.sql, async (tx) => {
        const { want, credit, canary } = input;
        const shares = input.lanes.map(({ weight, room, pinned, group }, index): LaneShare => {
          const rest = index === input.first ? credit : 0;
          const in_full_turns = weight * input.fullTurns;
          const inTurns = rest + in_full_turns + (input.isCut ? weight : 0);
          return {
            lane_id: index + 1,
            pinned_version: pinned ? versions.current : 0,
            turn: start + 1 + index - input.first,
            weight,
            room,
            queue_key: group,
            cap: input.caps[group]!,
            credit: rest,
            in_full_turns,
            max_runs: Math.min(room, inTurns),
          };
        });
        const only = canary?.only ?? null;
        const isOfCanary = (run: Run) =>
          canary !== null && run.task === 'both' && isCanaryShare(run.id, canary.percent);
        const queued = input.runs.map(({ lane, sortKey, isExpired }, n) => ({
          lane: lane % shares.length,
          sortKey,
          isExpired,
          run: runs[n]!,
        }));
        const waiting = shares.map((share, index) =>
          queued
            .filter((row) => row.lane === index && !row.isExpired)
            .filter(({ run }) => only === null || share.pinned_version !== 0 || isOfCanary(run) === only)
            .toSorted((a, b) => a.sortKey - b.sortKey || (a.run.id < b.run.id ? -1 : 1)),
        );
        const expiresAt = (isExpired: boolean) => new Date(now + (isExpired ? 0 : 1)).toISOString();
        await addRows(tx, {
          queued: queued.map(({ lane, sortKey, isExpired, run }) => ({
            lane_id: lane + 1,
            sort_key: sortKey,
            run_id: run.id,
            env,
            expires_at: isExpired || sortKey % 2 ? expiresAt(isExpired) : null,
          })),
        });
        const scope: ClaimScope = {
          env,
          runner_id: 'r',
          pinned_versions: [0, versions.current],
          current_version: versions.current,
          canary: canary && versions.canary,
          canary_percent: canary && canary.percent,
          only_canary: only,
          rings: [0],
          has_ready_runs: false,
          at: new Date(now).toISOString(),
          rate_now: new Date(now).toISOString(),
        };
        const { newest, wrapped } = input;
        const reached = { start, turn: null, newest, wrapped, credit: 0 };
        const page = { credit, reached, has_rate_limit: false };
        const { leases, stopped, has_more, emptied } = await takeRuns(tx, scope, page, shares, want);

        const { taken, creditUsed, last, left } = modelOf(input, shares, waiting);
        const byId = <T extends { run_id: string }>(rows: readonly T[]) =>
          rows.toSorted((a, b) => (a.run_id < b.run_id ? -1 : 1));
        expect(byId(leases ?? []).map((lease) => ({ ...lease, fence: undefined }))).toEqual(
          byId(
            taken.map(({ lane, waiting: { run, sortKey } }) => ({
              run_id: run.id,
              attempt: 1,
              version_id:
                shares[lane]!.pinned_version || (isOfCanary(run) ? versions.canary : versions.current),
              queue_id: run.queue_id,
              key: run.key,
              sort_key: sortKey,
            })),
          ),
        );
        const rows = await tx<(Omit<Lease, 'sort_key' | 'fence'> & { fence: string; runner_id: string })[]>`
          select run_id, fence, attempt, version_id, queue_id, key, runner_id from leases where env = ${env}`;
        expect(byId(rows)).toEqual(
          byId(leases ?? []).map((lease) => ({
            ...lease,
            sort_key: undefined,
            fence: String(lease.fence),
            runner_id: 'r',
          })),
        );
        const ids = new Set(taken.map(({ waiting: { run } }) => run.id));
        const stay = await tx<{ run_id: string }[]>`select run_id from queued where env = ${env} order by 1`;
        expect(stay.map((row) => row.run_id)).toEqual(
          queued
            .map(({ run }) => run.id)
            .filter((id) => !ids.has(id))
            .toSorted(),
        );

        expect(emptied.toSorted((a, b) => a - b)).toEqual(
          shares
            .filter((share, index) => share.room > 0 && left[index]!.length === 0)
            .map((share) => share.lane_id),
        );
        expect(has_more).toBe(
          shares.some(
            (share, index) => share.room > share.max_runs && waiting[index]!.length > share.max_runs,
          ),
        );
        if (taken.length === 0) return expect(stopped).toBeNull();
        const isFull = taken.length === want;
        if (last) {
          const share = shares[last.lane]!;
          const rest = isFull ? share.weight - last.count : 0;
          const isOver = wrapped && (share.turn <= start || (newest !== null && share.lane_id > newest));
          expect(stopped).toEqual({
            turn: rest > 0 ? share.turn - 1 : share.turn,
            credit: rest,
            newest: isOver ? null : newest,
          });
        } else {
          const rest = isFull ? credit - creditUsed : 0;
          expect(stopped).toEqual({
            turn: credit > 0 && rest === 0 ? start + 1 : start,
            credit: rest,
            newest: input.fullTurns > 0 ? null : newest,
          });
        }
      }),
    ),
    { numRuns: numRuns(150) },
  );
});

test('rate-limited starts are recorded with the leases, and the last one triggers another claim round', async () => {
  const t = await testEngine();
  const env = t.environment.id;
  const rateLimit = { limit: 2, period: 60 };
  const { id: version } = await t.register({ id: 'send', queue: { name: 'mail', rateLimit } });
  await t.addRunner('r');
  for (let n = 0; n < 2; n++) await t.trigger('send');
  const [lane] = await t.sql<{ id: number }[]>`select id::int from lanes`;
  const scope: ClaimScope = {
    env,
    runner_id: 'r',
    pinned_versions: [0],
    current_version: version,
    canary: null,
    canary_percent: null,
    only_canary: null,
    rings: [0],
    has_ready_runs: false,
    at: new Date(t.engine.clock.now()).toISOString(),
    rate_now: new Date(t.engine.clock.now()).toISOString(),
  };
  const share = {
    lane_id: lane!.id,
    pinned_version: 0,
    turn: 0,
    weight: 1,
    queue_key: 1,
    credit: 0,
    in_full_turns: 0,
  };
  const page = {
    credit: 0,
    reached: { start: -1, turn: 0, newest: null, wrapped: false, credit: 0 },
    has_rate_limit: true,
  };
  const take = (room: number) =>
    takeRuns(t.sql, scope, page, [{ ...share, room, cap: room, max_runs: 1 }], 1);
  expect((await take(1)).has_more).toBe(false);
  expect((await take(1)).has_more).toBe(true);
  expect(await t.sql`select total from queue_starts`).toEqual([{ total: 2 }]);
});
