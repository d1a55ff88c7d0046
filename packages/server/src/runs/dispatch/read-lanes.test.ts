import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Transaction } from '../../db/connect.ts';
import type { ClaimScope, LanePage, RingLane, RingPosition } from '../testing/claim-parts.ts';
import { testEngine } from '../testing/engine.ts';
import { addRows, rolledBack } from '../testing/rows.ts';
import { numRuns } from '../../../../../test/support/long.ts';

const now = Date.UTC(2026, 10, 24);
const iso = (age: number): string => new Date(now - age * 1_000).toISOString();
const queueIds = [1_001, 1_002, 1_003, 1_004];
const sharedLimits = [501, 502];
const window = 10;

const key = fc.constantFrom('', 'a', 'b');
const queue = fc.record({
  concurrency_limit: fc.option(fc.integer({ min: 1, max: 4 })),
  concurrency_override: fc.option(fc.integer({ min: 0, max: 4 }), { freq: 4 }),
  paused: fc.constantFrom(false, false, false, true),
  weight: fc.constantFrom(1, 1, 3),
  has_key_weights: fc.boolean(),
  shared_limit_id: fc.constantFrom(null, null, ...sharedLimits),
  rate: fc.option(fc.record({ burst: fc.integer({ min: 1, max: 4 }), byKey: fc.boolean() }), { freq: 2 }),
});
const draw = fc.record({
  queues: fc.array(queue, { minLength: 4, maxLength: 4 }),
  lanes: fc.uniqueArray(
    fc.record({
      queue: fc.nat(3),
      key,
      pinned_version: fc.constantFrom(0, 7, 8),
      blocked: fc.constantFrom(false, false, false, true),
      /** The ring, if it is not that of the shared limit. */
      otherRing: fc.constantFrom(null, null, null, 0, ...sharedLimits),
    }),
    {
      minLength: 6,
      maxLength: 24,
      size: 'max',
      selector: (lane) => `${lane.queue} ${lane.key} ${lane.pinned_version}`,
    },
  ),
  turns: fc.uniqueArray(fc.nat(99), { minLength: 24, maxLength: 24 }),
  /** Turns of lanes that are created after the first page, the second one, and so on. */
  created: fc.array(fc.nat(99), { maxLength: 3 }),
  keyWeights: fc.uniqueArray(
    fc.record({
      queue: fc.nat(3),
      key,
      weight: fc.option(fc.integer({ min: 1, max: 5 })),
      override: fc.integer({ min: 1, max: 5 }),
    }),
    { maxLength: 4, selector: (row) => `${row.queue} ${row.key}` },
  ),
  leases: fc.array(fc.record({ queue: fc.nat(3), key }), { maxLength: 8, size: 'max' }),
  suspended: fc.array(fc.record({ queue: fc.nat(3), key, isReady: fc.boolean() }), {
    maxLength: 8,
    size: 'max',
  }),
  starts: fc.uniqueArray(
    fc.record({
      queue: fc.nat(3),
      key,
      /** In seconds. Future times result from a clock that was set back. */
      times: fc.array(
        fc.record({ age: fc.constantFrom(-1, 3, 9, window, window + 1), n: fc.integer({ min: 1, max: 2 }) }),
        {
          minLength: 1,
          maxLength: 3,
        },
      ),
    }),
    { maxLength: 8, size: 'max', selector: (row) => `${row.queue} ${row.key}` },
  ),
  pinned_versions: fc.subarray([0, 7, 8], { minLength: 1 }),
  rings: fc.subarray(sharedLimits).map((open) => [0, ...open]),
  has_ready_runs: fc.boolean(),
  size: fc.integer({ min: 1, max: 9 }),
  want: fc.integer({ min: 1, max: 6 }),
  start: fc.oneof(fc.constant(-1), fc.integer({ min: 20, max: 180 })),
  newest: fc.option(fc.integer({ min: 1, max: 20 })),
  credit: fc.nat(2),
});
type Draw = typeof draw extends fc.Arbitrary<infer T> ? T : never;

interface ModelLane extends Omit<RingLane, 'queue_key'> {
  readonly ring: number;
  readonly isReady: boolean;
  /** How many starts its rate limit allows; infinite without one. */
  readonly starts: number;
  /** Lanes of one group share their cap. */
  readonly group: string;
}

/** The runs that each lane may give, computed from the rows alone. */
function modelOf(input: Draw): ModelLane[] {
  return input.lanes.map((lane, index) => {
    const ofLane = (row: { queue: number; key: string }) => row.queue === lane.queue && row.key === lane.key;
    const { rate, ...settings } = input.queues[lane.queue]!;
    const limit = settings.concurrency_override ?? settings.concurrency_limit;
    const taken =
      input.leases.filter(ofLane).length +
      (input.has_ready_runs ? input.suspended.filter((row) => row.isReady && ofLane(row)).length : 0);
    const room = settings.paused ? 0 : limit === null ? input.want : Math.max(0, limit - taken);
    const recent = input.starts
      .filter((row) => row.queue === lane.queue && row.key === (rate?.byKey ? lane.key : ''))
      .flatMap(({ times }) => times)
      .filter(({ age }) => age < window)
      .reduce((sum, { n }) => sum + n, 0);
    const starts = rate ? Math.max(0, rate.burst - recent) : Infinity;
    const isOfQueue = rate !== null && !rate.byKey;
    const ownWeight = input.keyWeights.find(ofLane);
    return {
      lane_id: index + 1,
      pinned_version: lane.pinned_version,
      turn: input.turns[index]! * 2,
      room: Math.min(room, starts),
      cap: isOfQueue ? starts : Math.min(room, starts),
      weight: (settings.has_key_weights ? ownWeight?.override : undefined) ?? settings.weight,
      shared_limit: settings.shared_limit_id ?? 0,
      ring: lane.otherRing ?? settings.shared_limit_id ?? 0,
      isReady: !lane.blocked,
      starts,
      group: isOfQueue ? `${lane.queue}` : `${lane.queue} ${lane.key}`,
    };
  });
}

async function fill(tx: Transaction, env: number, input: Draw, model: readonly ModelLane[]): Promise<void> {
  const of = (row: { queue: number; key: string }) => ({ env, queue_id: queueIds[row.queue], key: row.key });
  const attempt = { runner_id: 'r', version_id: 7, attempt: 1 };
  await addRows(tx, {
    queues: input.queues.map(({ rate, ...row }, index) => ({
      id: queueIds[index],
      env,
      name: `queue ${index}`,
      ...row,
      rate_limit: rate && {
        limit: rate.burst,
        burst: rate.burst,
        period: window,
        ...(rate.byKey && { key: 'concurrencyKey' }),
      },
    })),
    key_weights: input.keyWeights.map((row) => ({
      ...of(row),
      weight: row.weight,
      weight_override: row.override,
    })),
    lanes: input.lanes.map((row, index) => ({
      ...of(row),
      id: index + 1,
      pinned_version: row.pinned_version,
      blocked: row.blocked,
      turn: model[index]!.turn,
      ring: model[index]!.ring,
    })),
    leases: input.leases.map((row, n) => ({ ...of(row), ...attempt, run_id: `l${n}`, leased_at: iso(0) })),
    suspended: input.suspended.map((row, n) => ({
      ...of(row),
      ...attempt,
      run_id: `s${n}`,
      fence: -n,
      active_ms: 0,
      since: iso(0),
      ready_at: row.isReady ? iso(0) : null,
    })),
    queue_starts: input.starts.map((row) => {
      const times = row.times.toSorted((a, b) => b.age - a.age);
      return {
        ...of(row),
        at: times.map(({ age }) => iso(age)),
        n: times.map(({ n }) => n),
        total: times.reduce((sum, { n }) => sum + n, 0),
      };
    }),
  });
}

async function readLanes(
  tx: Transaction,
  scope: Partial<ClaimScope>,
  position: RingPosition,
  size: number,
  want: number,
): Promise<LanePage> {
  const [row] = await tx<{ page: LanePage }[]>`
    select to_jsonb(read_lanes(jsonb_populate_record(null::claim_scope, ${JSON.stringify(scope)}::jsonb),
                               jsonb_populate_record(null::ring_position, ${JSON.stringify(position)}::jsonb), ${size}, ${want})) as page`;
  return row!.page;
}

test('the pages of a revolution contain each ready lane once, with its remaining capacity', async () => {
  const t = await testEngine();
  const env = t.environment.id;
  await fc.assert(
    fc.asyncProperty(draw, (input) =>
      rolledBack(t.sql, async (tx) => {
        const model = modelOf(input);
        await fill(tx, env, input, model);
        const { pinned_versions, rings, has_ready_runs, start, newest, credit, size, want } = input;
        const scope = { env, pinned_versions, rings, has_ready_runs, rate_now: iso(0) };
        let position: RingPosition = { start, turn: start, newest, wrapped: false, credit };
        const pages: LanePage[] = [];
        for (let isEnd = false; !isEnd; isEnd = pages.at(-1)!.is_end) {
          const page = await readLanes(tx, scope, position, size, want);
          pages.push(page);
          position = page.reached;
          expect(page.credit).toBe(pages.length === 1 ? credit : 0);
          // Only the last page may have fewer lanes, and only the page that continues at the beginning of the rings may have more.
          const count = page.lanes.length + page.rate_limited.length;
          expect(page.is_end || (page.reached.wrapped ? count >= size : count === size)).toBe(true);
          const turn = input.created[pages.length - 1];
          if (turn !== undefined)
            await addRows(tx, {
              lanes: [
                {
                  id: 100 + pages.length,
                  env,
                  queue_id: queueIds[0],
                  key: `created ${pages.length}`,
                  pinned_version: 0,
                  turn: turn * 2 + 1,
                },
              ],
            });
        }
        expect(pages.map((page) => page.is_only)).toEqual(pages.map(() => pages.length === 1));

        // From the start to the end, the lanes of this revolution; then, from the beginning to the start, also those of the next.
        const isNext = (lane: ModelLane) => lane.turn <= start || (newest !== null && lane.lane_id > newest);
        const ring = model
          .filter((lane) => lane.isReady && rings.includes(lane.ring))
          .filter((lane) => pinned_versions.includes(lane.pinned_version))
          .toSorted((a, b) => Number(isNext(a)) - Number(isNext(b)) || a.turn - b.turn);
        const expected = ring.filter(({ starts }) => starts > 0);
        const all = pages.flatMap(({ lanes }) => lanes);
        const old = all.filter(({ lane_id: id }) => id < 100);
        expect(old.map((lane) => ({ ...lane, queue_key: undefined }))).toEqual(
          expected.map((lane) => ({
            ...lane,
            ring: undefined,
            isReady: undefined,
            starts: undefined,
            group: undefined,
          })),
        );
        const limited = pages.flatMap((page) => page.rate_limited);
        const ids = [...all.map(({ lane_id: id }) => id), ...limited];
        expect(new Set(ids).size).toBe(ids.length);
        expect(limited.filter((id) => id < 100)).toEqual(
          ring.filter(({ starts }) => starts === 0).map(({ lane_id: id }) => id),
        );
        expect(pages.flatMap(({ misplaced }) => misplaced).filter((id) => id < 100)).toEqual(
          ring.filter((lane) => lane.ring !== lane.shared_limit).map(({ lane_id: id }) => id),
        );
        const groups = new Set(expected.map(({ group }) => group));
        const keys = new Set(old.map((lane) => lane.queue_key));
        expect(keys.size).toBe(groups.size);
        expect(new Set(old.map((lane, n) => `${lane.queue_key} ${expected[n]!.group}`)).size).toBe(
          groups.size,
        );

        if (all.length > old.length) return;
        const has = (matches: (lane: ModelLane) => boolean) => ring.some(matches);
        const some = (flag: keyof LanePage) => pages.some((page) => page[flag]);
        const queueOf = (lane: ModelLane) => input.queues[input.lanes[lane.lane_id - 1]!.queue]!;
        expect({
          rate: some('has_rate_limit'),
          both: some('has_queue_rate_and_concurrency'),
          shared: some('has_shared_limit'),
          weights: some('has_weights'),
        }).toEqual({
          rate: has((lane) => queueOf(lane).rate !== null),
          both: has((lane) => {
            const { rate, concurrency_limit: limit, concurrency_override: override } = queueOf(lane);
            return rate !== null && !rate.byKey && (override ?? limit) !== null;
          }),
          shared: has((lane) => lane.shared_limit !== 0),
          weights: has((lane) => lane.weight !== 1),
        });
      }),
    ),
    { numRuns: numRuns(120) },
  );
});
