import fc from 'fast-check';
import { expect, test } from 'vitest';
import { numRuns } from '../../../../../test/support/long.ts';
import { testEngine, type TestEngine } from '../testing/engine.ts';
import { extendLease } from './extend-lease.ts';
import { leaseWatch } from './lease-watch.ts';
import { rescuer } from './rescuer.ts';
import { rescueRunner } from './rescue.ts';

/** Leases last for minutes here, so that the duration of the tests does not matter. */
const minute = 60_000;
const leaseMs = 30 * minute;
const heartbeat = 10;
const days = 3_600 * minute;

/** An engine whose watch has seen no outage, and runners with one run each. Time advances only through `pass`. */
async function start() {
  const t = await testEngine();
  const { id: version } = await t.register('work');
  const tick = () => leaseWatch(t.engine, { leaseMs }).tick();
  return {
    t,
    tick,
    pass: (minutes: number) => t.engine.clock.shift(minutes * minute),
    rescue: () => rescuer(t).tick(),
    async connect(id: string): Promise<string> {
      await t.trigger('work');
      await t.addRunner(id);
      await extendLease(t.engine, id, `connection of ${id}`, { leaseMs });
      const [leased] = await t.claim(id, [version], 1);
      return leased?.run ?? '';
    },
    beat: (id: string) => extendLease(t.engine, id, `connection of ${id}`, { leaseMs }),
    async connected(): Promise<string[]> {
      return (await t.sql<{ id: string }[]>`select id from runners order by id`).map(({ id }) => id);
    },
    async rescues(run: string): Promise<number> {
      const [row] = await t.sql<{ rescues: number }[]>`select rescues from runs where id = ${run}`;
      return row?.rescues ?? -1;
    },
  };
}

test('after an outage, leases expire one lease later, and a loss before the first heartbeat is not counted', async () => {
  const { tick, pass, rescue, connect, beat, connected, rescues } = await start();
  await tick();
  const [alive, dead] = [await connect('alive'), await connect('dead')];
  pass(29);
  // The rescuer may be faster than the watch.
  await rescue();
  await tick();
  await rescue();
  pass(5);
  await tick();
  await beat('alive');
  for (let minutes = 0; minutes < 24; minutes += 4) {
    pass(4);
    await tick();
    await rescue();
  }
  expect(await connected()).toEqual(['alive', 'dead']);
  pass(2);
  await tick();
  await rescue();
  expect(await connected()).toEqual(['alive']);
  expect([await rescues(alive), await rescues(dead)]).toEqual([0, 0]);
});

test('a closed connection does not expire leases while its runner could not reconnect', async () => {
  const { t, tick, pass, connect, beat, connected, rescues } = await start();
  await tick();
  const run = await connect('r');
  const end = () => rescueRunner(t, 'r', 'connection of r');
  pass(10);
  // During the outage; executed when it ends.
  expect(await end()).toBe(0);
  await tick();
  expect(await end()).toBe(0);
  expect(await connected()).toEqual(['r']);
  await beat('r');
  expect(await end()).toBe(1);
  expect(await rescues(run)).toBe(1);
});

test('a run ends as CRASHED after four losses, not counting outages', async () => {
  const { t, tick, pass, rescue, beat, rescues } = await start();
  await tick();
  const { id: run } = await t.trigger('work');
  const { id: version } = (await t.engine.versions.current(t.environment.id))!;
  const lose = async (id: string, isOutage: boolean): Promise<void> => {
    await t.addRunner(id);
    await beat(id);
    expect(await t.claim(id, [version], 1)).toHaveLength(1);
    pass(isOutage ? 8 : 1);
    await tick();
    for (let minutes = 0; minutes < 32; minutes += 4) {
      pass(4);
      await tick();
    }
    await rescue();
  };
  for (const id of ['a', 'b', 'c', 'd', 'e']) await lose(`outage ${id}`, true);
  expect(await rescues(run)).toBe(0);
  for (const id of ['a', 'b', 'c']) await lose(id, false);
  expect([await rescues(run), await t.statusOf(run)]).toEqual([3, null]);
  await lose('outage again', true);
  expect([await rescues(run), await t.statusOf(run)]).toEqual([3, null]);
  await lose('d', false);
  expect(await t.statusOf(run)).toBe('CRASHED');
});

/** Times are in minutes. `jump`: how far the clock of the new database host is ahead, in milliseconds. */
const draw = fc.record({
  outages: fc.array(
    fc.record({
      after: fc.integer({ min: 3, max: 25 }),
      lasts: fc.oneof(fc.nat(7), fc.nat(50)),
      jump: fc.constantFrom(0, 0, 0, days, -days, 20 * minute, -20 * minute, -3 * minute),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  /** When the second of two servers freezes. The first one never does. */
  freezesAt: fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.nat(60)),
  /** Runners, alternating between the two servers: the minutes of their first heartbeat and of their death. */
  runners: fc.array(
    fc.record({
      phase: fc.nat(heartbeat - 1),
      diesAt: fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.nat(60)),
    }),
    { minLength: 2, maxLength: 4 },
  ),
  isRescuerFirst: fc.boolean(),
});
type Draw = typeof draw extends fc.Arbitrary<infer T> ? T : never;

test(
  'a runner that can send heartbeats never loses its leases; any other loses them one lease after the last outage',
  { timeout: 300_000 },
  async () => {
    const world = await start();
    let cases = 0;
    await fc.assert(
      fc.asyncProperty(draw, (drawn) => live(world, drawn, `case ${++cases}`)),
      { numRuns: numRuns(40) },
    );
  },
);

async function live(world: Awaited<ReturnType<typeof start>>, drawn: Draw, name: string): Promise<void> {
  const { t, pass, connect, connected, rescues } = world;
  const { outages, freezesAt, isRescuerFirst } = drawn;
  /** Processes measure the database's clock only from time to time, so they are wrong for a while after a jump. */
  let staleMs = 0;
  let staleUntil = 0;
  const { clock } = t.engine;
  const process: TestEngine['engine'] = {
    ...t.engine,
    clock: Object.assign(Object.create(clock) as typeof clock, { now: () => clock.now() - staleMs }),
  };
  const watch = leaseWatch(process, { leaseMs });
  const rescuing = rescuer({ ...t, engine: process });
  for (const table of ['runners', 'leases', 'queued']) await t.sql.unsafe(`delete from ${table}`);
  await watch.tick();
  const runners = await Promise.all(
    drawn.runners.map(async ({ phase, diesAt }, n) => ({
      id: `${name} ${n}`,
      mute: n % 2 === 0 ? diesAt : Math.min(diesAt, freezesAt),
      beatsAt: phase,
      renewedAt: 0,
      lostAt: undefined as number | undefined,
      run: '',
    })),
  );
  for (const runner of runners) runner.run = await connect(runner.id);

  const spans: { from: number; to: number; jump: number }[] = [];
  for (const { after, lasts, jump } of outages) {
    const from = (spans.at(-1)?.to ?? 0) + after;
    spans.push({ from, to: from + lasts, jump });
  }
  const lastEnd = spans.at(-1)?.to ?? 0;
  const expiresBy = (mute: number): number => Math.max(mute, lastEnd) + 30 + 5;
  const finite = runners.map(({ mute }) => mute).filter(Number.isFinite);
  const end = Math.max(lastEnd + 35, ...finite.map(expiresBy));

  for (let now = 1; now <= end; now++) {
    pass(1);
    for (const { to, jump } of spans)
      if (to === now && jump !== 0) {
        clock.shift(jump);
        [staleMs, staleUntil] = [jump, now + heartbeat];
      }
    if (now >= staleUntil) staleMs = 0;
    if (spans.some(({ from, to }) => now >= from && now < to)) continue;
    const servers = now < freezesAt ? 2 : 1;
    for (let server = 0; server < servers; server++) {
      if (isRescuerFirst) await rescuing.tick();
      await watch.tick();
      if (!isRescuerFirst) await rescuing.tick();
    }
    const left = new Set(await connected());
    for (const runner of runners) {
      if (!left.has(runner.id)) runner.lostAt ??= now;
      if (runner.lostAt !== undefined || now >= runner.mute || now < runner.beatsAt) continue;
      await extendLease(process, runner.id, `connection of ${runner.id}`, { leaseMs });
      runner.renewedAt = now;
      runner.beatsAt = now + heartbeat;
    }
  }

  for (const { id, mute, lostAt, renewedAt, run } of runners) {
    if (!Number.isFinite(mute)) {
      expect(lostAt, `${id} is alive`).toBeUndefined();
      continue;
    }
    expect(lostAt, `${id} is lost`).toBeLessThanOrEqual(expiresBy(mute));
    expect(lostAt, `${id} had a lease`).toBeGreaterThanOrEqual(renewedAt + 30 - 8);
    // Measured by the database's clock, between the last tick before and the first one after. A clock that is set back may hide a pause;
    // leases then last longer by themselves.
    const isOutage = spans.some(
      ({ from, to, jump }) =>
        to > renewedAt && to <= (lostAt ?? 0) && Math.abs(to - from + 1 + jump / minute) > 7.5,
    );
    expect(await rescues(run), `${id} is counted`).toBe(isOutage ? 0 : 1);
  }
}
