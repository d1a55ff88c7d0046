import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Queryable } from '../../db/connect.ts';
import type { LanePage, LaneShare, RingLane } from '../testing/claim-parts.ts';
import { testEngine } from '../testing/engine.ts';
import { addRows, rolledBack } from '../testing/rows.ts';
import { numRuns } from '../../../../../test/support/long.ts';

const emptyPage: LanePage = {
  lanes: [],
  credit: 0,
  reached: { start: -1, turn: -1, newest: null, wrapped: false, credit: 0 },
  is_end: true,
  is_only: true,
  rate_limited: [],
  misplaced: [],
  has_rate_limit: false,
  has_queue_rate_and_concurrency: false,
  has_shared_limit: false,
  has_weights: false,
};

interface Allotted {
  readonly shares: readonly LaneShare[] | null;
  readonly at_limit: readonly number[] | null;
  readonly is_partial: boolean;
}

async function allotStarts(sql: Queryable, page: LanePage, want: number): Promise<Allotted> {
  const [row] = await sql<{ allotted: Allotted }[]>`
    select to_jsonb(allot_starts(jsonb_populate_record(null::lane_page, ${JSON.stringify(page)}::jsonb), ${want}, false)) as allotted`;
  return row!.allotted;
}

const draw = fc.record({
  lanes: fc.array(
    fc.record({
      weight: fc.integer({ min: 1, max: 4 }),
      room: fc.oneof(fc.nat(8), fc.constant(1_000)),
      version: fc.constantFrom(0, 7),
    }),
    { minLength: 1, maxLength: 8 },
  ),
  isWeighted: fc.boolean(),
  isOnly: fc.boolean(),
  want: fc.integer({ min: 1, max: 40 }),
  credit: fc.nat(3),
  /** Runs of the lane that has the credit; 8 if the lane is not in the page. */
  first: fc.nat(8),
});

test('lanes get turns by weight: equally many full turns, then one more in ring order', async () => {
  const t = await testEngine();
  await fc.assert(
    fc.asyncProperty(draw, async (input) => {
      const { isOnly, want, credit } = input;
      const lanes = input.lanes.map(({ weight, room, version }, index): RingLane => ({
        lane_id: index + 1,
        pinned_version: version,
        turn: index * 10,
        room,
        queue_key: index,
        cap: room,
        weight: input.isWeighted ? weight : 1,
        shared_limit: 0,
      }));
      const page = {
        ...emptyPage,
        lanes,
        credit,
        reached: { ...emptyPage.reached, start: input.first * 10 - 1 },
        is_end: isOnly,
        is_only: isOnly,
        has_weights: lanes.some(({ weight }) => weight > 1),
      };
      const { shares, at_limit, is_partial } = await allotStarts(t.sql, page, want);
      expect(is_partial).toBe(false);
      expect(at_limit ?? []).toEqual(lanes.filter(({ room }) => room === 0).map(({ lane_id: id }) => id));
      expect(
        shares!.map((share) => ({
          ...share,
          credit: undefined,
          in_full_turns: undefined,
          max_runs: undefined,
        })),
      ).toEqual(lanes.map((lane) => ({ ...lane, shared_limit: undefined })));

      // The runs are distributed one by one, as if each lane always had one left.
      const dealt = lanes.map(() => 0);
      let left = Math.max(0, want - credit);
      for (let turn = 0; left > 0 && (isOnly || turn === 0); turn++)
        for (const [index, { weight }] of lanes.entries())
          for (let n = 0; n < weight && left > 0; n++, left--) dealt[index]!++;
      const fullTurns = isOnly
        ? Math.min(...lanes.map(({ weight }, n) => Math.floor(dealt[n]! / weight)))
        : 0;
      const isCut = lanes.some(({ weight }, index) => dealt[index]! > weight * fullTurns);
      for (const [index, { weight, room }] of lanes.entries()) {
        const { credit: rest, in_full_turns, max_runs } = shares![index]!;
        expect(rest).toBe(index === input.first ? credit : 0);
        expect(in_full_turns).toBe(weight * fullTurns);
        // Which lanes get the last turn depends on their runs, so any of them may.
        expect(max_runs).toBe(Math.min(room, rest + in_full_turns + (isCut ? weight : 0)));
      }

      // If all lanes have enough runs, the shares add up to the claim's request, and no lane is a turn ahead of another.
      if (lanes.some(({ room }) => room < 1_000)) return;
      const taken = lanes.map((_, index) => shares![index]!.in_full_turns);
      left = want - shares!.reduce((sum, share) => sum + share.credit + share.in_full_turns, 0);
      for (const [index, { max_runs, credit: rest, in_full_turns }] of shares!.entries()) {
        const more = Math.max(0, Math.min(left, max_runs - rest - in_full_turns));
        taken[index]! += more;
        left -= more;
      }
      if (isOnly && (credit === 0 || input.first < lanes.length)) expect(Math.max(0, left)).toBe(0);
      const turns = lanes.map(({ weight }, index) => taken[index]! / weight);
      expect(Math.max(...turns) - Math.min(...turns)).toBeLessThanOrEqual(1);
    }),
    { numRuns: numRuns(200) },
  );
});

test('of lanes that share a limit and a concurrency key, one takes a turn, and all share the remaining capacity', async () => {
  const t = await testEngine();
  const env = t.environment.id;
  await rolledBack(t.sql, async (tx) => {
    const queue = { env, concurrency_limit: 5, shared_limit_id: 501 };
    await addRows(tx, {
      shared_limits: [{ id: 501, env, name: 'provider', slots: 3 }],
      queues: [1_001, 1_002].map((id) => ({ ...queue, id, name: `queue ${id}` })),
      lanes: [
        { id: 1, env, queue_id: 1_001, key: '', pinned_version: 0 },
        { id: 2, env, queue_id: 1_001, key: '', pinned_version: 7 },
        { id: 3, env, queue_id: 1_002, key: '', pinned_version: 0 },
      ],
      queued: [1, 2, 3].map((id) => ({ lane_id: id, sort_key: 1, run_id: `run ${id}`, env })),
      leases: [
        {
          env,
          run_id: 'run 0',
          runner_id: 'r',
          queue_id: 1_002,
          key: '',
          version_id: 7,
          attempt: 1,
          leased_at: new Date(t.engine.clock.now()),
        },
      ],
    });
    const lane = { turn: 0, room: 5, cap: 5, weight: 1, shared_limit: 501 };
    const page = {
      ...emptyPage,
      has_shared_limit: true,
      lanes: [
        { ...lane, lane_id: 1, pinned_version: 0, queue_key: 10 },
        { ...lane, lane_id: 2, pinned_version: 7, queue_key: 10 },
        { ...lane, lane_id: 3, pinned_version: 0, queue_key: 30 },
      ],
    };
    const { shares, is_partial } = await allotStarts(tx, page, 9);
    expect(shares).toMatchObject([
      { lane_id: 2, room: 2, cap: 2, in_full_turns: 3, max_runs: 2 },
      { lane_id: 3, room: 2, cap: 2, in_full_turns: 3, max_runs: 2 },
    ]);
    expect(shares![0]!.queue_key).toBe(shares![1]!.queue_key);
    expect(is_partial).toBe(true);
  });
});
