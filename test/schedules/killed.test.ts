import { once } from 'node:events';
import * as superjson from 'superjson';
import { expect, test } from 'vitest';
import { patternOf, type ScheduleRow } from '../../packages/server/src/schedules/row.ts';
import { tickAfter } from '../../packages/server/src/schedules/pattern.ts';
import { numRuns } from '../support/long.ts';
import { promote } from '../support/promote.ts';
import { killableServers } from '../support/server-process/killable.ts';
import type { ServerProcess } from '../support/server-process/start.ts';

const hour = 3_600_000;
const rounds = numRuns(15);

/** Reproducible randomness: the output contains the seed. */
function chances(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

test('two servers that are killed and restarted over days fire every tick once, or record the reason for a skip', async () => {
  const { sql, start } = await killableServers();
  const servers: ServerProcess[] = [];
  const seed = Math.trunc(Math.random() * 2 ** 31);
  console.log(`seed ${seed}`);
  const chance = chances(seed);
  let shiftMs = 0;

  servers.push(await start({ shiftMs }));
  servers.push(await start({ shiftMs }));

  const post = async (path: string, body: unknown): Promise<void> => {
    const { url, secretKey } = servers[0] as ServerProcess;
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${secretKey}` },
      body: JSON.stringify(body),
    });
    expect(response.status, await response.text()).toBe(200);
  };
  const declared = { cron: '*/15 * * * *', timezone: 'UTC', missed: 'all:2d' };
  await post('/runner/v1/versions', {
    contentHash: 'content-1',
    tasks: [
      { id: 'report', filePath: 'r.ts', scheduled: true },
      { id: 'own', filePath: 'o.ts', schedule: declared },
    ],
  });
  const [{ url, secretKey }] = servers as [ServerProcess];
  await promote(url, secretKey);
  const settings = [
    ...Array.from({ length: 8 }, () => ({ cron: '* * * * *', missed: 'all:2d' })),
    { cron: '* * * * *', missed: 'all:1h' },
    { cron: '*/5 * * * *' },
    { cron: '*/7 * * * *', missed: 'skip' },
    { cron: '0 * * * *', missed: 'all:7d', timezone: 'Asia/Kolkata', window: '50%' },
    { cron: '30 2 * * *', missed: 'all:7d', timezone: 'America/New_York', window: '2h' },
    { cron: '0,20,40 * * * *', overlap: 'skip' },
    { cron: '*/10 * * * *', overlap: 'cancel', missed: 'all:1d' },
    { cron: '*/3 * * * *', overlap: 'queue', missed: 'all:1d' },
  ];
  for (const [n, setting] of settings.entries()) {
    await post('/api/v1/schedules', { task: 'report', deduplicationKey: `key-${n}`, ...setting });
  }

  const fired = async (): Promise<number> => {
    const [row] = await sql<{ count: number }[]>`select count(*)::int as count from schedule_ticks`;
    return row?.count ?? 0;
  };
  const overdue = async (): Promise<boolean> => {
    const [row] = await sql<{ due: boolean }[]>`
      select exists (select from schedules where next_at <= clock_timestamp() + ${`${shiftMs - 3_000} milliseconds`}::interval) as due`;
    return row?.due ?? true;
  };
  let killedAmidst = 0;
  for (let round = 0; round < rounds; round++) {
    const step = Math.round((1 + chance() * 8) * hour);
    const before = await fired();
    shiftMs += step;
    for (const { process } of servers) process.send?.(step);
    // During the transactions that fire the due ticks.
    await expect.poll(fired, { timeout: 10_000, interval: 1 }).toBeGreaterThan(before);
    await new Promise((resolve) => setTimeout(resolve, chance() * 150));
    killedAmidst += Number(await overdue());
    const victim = chance() < 0.5 ? 0 : 1;
    const dying = servers[victim] as ServerProcess;
    dying.process.kill('SIGKILL');
    await once(dying.process, 'exit');
    servers[victim] = await start({ shiftMs });
    await expect.poll(overdue, { timeout: 30_000, interval: 50 }).toBe(false);
  }
  for (const { process } of servers) {
    process.kill('SIGKILL');
    await once(process, 'exit');
  }

  const schedules = await sql<ScheduleRow[]>`select * from schedules`;
  expect(schedules).toHaveLength(settings.length + 1);
  const reasons = new Set<string>();
  for (const schedule of schedules) {
    const ticks = await sql<{ nominal_at: Date; run_id: string }[]>`
      select nominal_at, run_id from schedule_ticks where schedule_id = ${schedule.id} order by nominal_at`;
    const skips = await sql<{ from_at: Date; until_at: Date; reason: string }[]>`
      select from_at, until_at, reason from schedule_skips where schedule_id = ${schedule.id}`;
    for (const { reason } of skips) reasons.add(reason);

    const pattern = patternOf(schedule);
    const firedAt = new Set(ticks.map((tick) => tick.nominal_at.getTime()));
    let tick = tickAfter(pattern, schedule.since.getTime());
    for (
      ;
      tick && tick.nominal < (schedule.next_nominal?.getTime() ?? 0);
      tick = tickAfter(pattern, tick.nominal)
    ) {
      const { nominal } = tick;
      const skipped = skips.filter(
        (skip) => skip.from_at.getTime() <= nominal && skip.until_at.getTime() >= nominal,
      );
      expect(
        skipped.length + Number(firedAt.delete(nominal)),
        `${schedule.cron} at ${new Date(nominal).toISOString()}`,
      ).toBe(1);
    }
    expect([...firedAt]).toEqual([]);

    const runs = await sql<{ id: string; payload: string }[]>`
      select id, payload from runs where schedule_id = ${schedule.id} order by id`;
    const times = new Map(
      runs.map((run) => [run.id, superjson.parse<{ timestamp: Date }>(run.payload).timestamp]),
    );
    expect(times.size).toBe(ticks.length);
    for (const { run_id, nominal_at } of ticks) expect(times.get(run_id)).toEqual(nominal_at);
  }
  expect(killedAmidst).toBeGreaterThan(rounds / 3);
  expect(reasons).toEqual(new Set(['missed', 'overlap']));
}, 300_000);
