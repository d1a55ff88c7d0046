import { expect, onTestFinished, test } from 'vitest';
import type { Log } from '../logger.ts';
import { startJob, type Job } from './job.ts';
import { Timer } from './timer.ts';

const clock = { now: Date.now };

/** A job that ticks once per minute without being woken, with the times of its ticks. */
function started(tick: () => ReturnType<Job['tick']> = async () => false, firstInMs = 0) {
  const ticks: number[] = [];
  const warned: unknown[] = [];
  const log: Log = { info() {}, warn: (event, fields) => void warned.push([event, fields]), error() {} };
  const timer = new Timer();
  const job: Job = {
    name: 'tester',
    everyMs: 60_000,
    timer,
    tick() {
      ticks.push(clock.now());
      return tick();
    },
  };
  const running = startJob(job, { clock, log, firstInMs });
  onTestFinished(() => running.stop());
  return { ticks, warned, timer, running };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 30));

test('ticks immediately when it starts and when it is woken', async () => {
  const { ticks, timer } = started();
  expect(ticks).toHaveLength(1);
  await settled();
  expect(ticks).toHaveLength(1);
  timer.wakeNow();
  await expect.poll(() => ticks).toHaveLength(2);
});

test('ticks after the pause before its first tick, or when it is woken', async () => {
  const begun = clock.now();
  const late = started(undefined, 100);
  const woken = started(undefined, 60_000);
  const stopped = started(undefined, 60_000);
  expect([late.ticks, woken.ticks]).toEqual([[], []]);
  woken.timer.wakeNow();
  await expect.poll(() => woken.ticks).toHaveLength(1);
  await expect.poll(() => late.ticks).toHaveLength(1);
  expect(late.ticks[0]).toBeGreaterThanOrEqual(begun + 100);
  await stopped.running.stop();
  expect(stopped.ticks).toEqual([]);
});

test('ticks again without a pause while there is more to do', async () => {
  let left = 3;
  const { ticks } = started(async () => left-- > 0);
  await expect.poll(() => ticks).toHaveLength(4);
  await settled();
  expect(ticks).toHaveLength(4);
});

test('ticks when the next work is due, not before', async () => {
  const due = clock.now() + 200;
  const { ticks } = started(async () => clock.now() < due && new Date(due));
  await expect.poll(() => ticks).toHaveLength(2);
  expect(ticks[1]).toBeGreaterThanOrEqual(due);
});

test('ticks at the earliest of several times, and at a later one afterwards', async () => {
  const { ticks, timer } = started();
  const now = clock.now();
  await settled();
  for (const at of [now + 400, now + 150, now + 3_600_000]) timer.wakeAt(at);
  await expect.poll(() => ticks).toHaveLength(2);
  expect(ticks[1]).toBeGreaterThanOrEqual(now + 150);
  expect(ticks[1]).toBeLessThan(now + 400);
});

test('never exceeds its maximum pause, even if it is woken after the clock was set back', async () => {
  let behind = 0;
  const late = { now: () => Date.now() - behind };
  const timer = new Timer();
  let ticks = 0;
  const running = startJob(
    { name: 'tester', everyMs: 200, timer, tick: async () => (ticks++, false) },
    { clock: late, log: { info() {}, warn() {}, error() {} } },
  );
  onTestFinished(() => running.stop());
  await settled();
  expect(ticks).toBe(1);
  behind = 3_600_000;
  // Earlier than the scheduled tick, but an hour from now.
  timer.wakeAt(late.now() + 3_599_000);
  await expect.poll(() => ticks).toBeGreaterThan(2);
});

test('does not lose a wake-up that arrives during a tick', async () => {
  let end: (() => void) | undefined;
  const { ticks, timer } = started(() => new Promise((resolve) => (end = () => resolve(false))));
  timer.wakeNow();
  timer.wakeAt(clock.now());
  end?.();
  await expect.poll(() => ticks).toHaveLength(2);
  end?.();
});

test('logs a tick that fails, and ticks again', async () => {
  let fails = true;
  const { ticks, warned, timer } = started(async () => {
    if (fails) throw new Error('no');
    return false;
  });
  await expect.poll(() => warned).toEqual([['job.failed', { job: 'tester', error: 'Error: no' }]]);
  fails = false;
  timer.wakeNow();
  await expect.poll(() => ticks).toHaveLength(2);
});

test('a timer has no effect before its job starts and after it stops, and serves the next job', async () => {
  const before = new Timer();
  before.wakeNow();
  before.wakeAt(0);
  const { ticks, timer, running } = started();
  await running.stop();
  timer.wakeNow();
  await settled();
  expect(ticks).toHaveLength(1);

  let woken = 0;
  timer.attach({ wakeNow: () => void woken++, wakeAt() {} });
  await running.stop();
  timer.wakeNow();
  expect(woken).toBe(1);
});
