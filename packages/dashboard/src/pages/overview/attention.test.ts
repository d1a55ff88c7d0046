import type { Queue, RunnerInfo, Schedule } from '@millrace/contract';
import { expect, test } from 'vitest';
import { concernsOf } from './attention.ts';

const now = Date.parse('2026-11-23T12:00:00.000Z');
const concurrency = { paused: false, concurrencyLimit: null, running: 1, queued: 3 };
const runner = { id: 'r' } as RunnerInfo;
const queue = (name: string, paused: boolean, queued: number) =>
  ({ id: name, name, paused, queued }) as Queue;
const schedule = (minutes: number, active = true) =>
  ({ id: 's', active, nextRunEffectiveAt: new Date(now + minutes * 60_000).toISOString() }) as Schedule;
const ids = (known: Partial<Parameters<typeof concernsOf>[0]>) =>
  concernsOf({ now, ...known }).map(({ id }) => id);

test('reports nothing when all is well or not yet known', () => {
  expect(ids({})).toEqual([]);
  expect(
    ids({ concurrency, runners: [runner], queues: [queue('a', false, 3)], schedules: [schedule(5)] }),
  ).toEqual([]);
});

test('blocking problems come before failures', () => {
  expect(
    ids({
      installationPausedAt: '2026-11-23T11:00:00.000Z',
      concurrency: { ...concurrency, paused: true },
      runners: [],
      queues: [queue('mail', true, 2)],
      newErrors: 2,
      regressedErrors: 1,
    }),
  ).toEqual(['installation', 'environment', 'runners', 'queue mail', 'regressed', 'new']);
});

test('a missing runner is reported once runs wait, and a paused queue once it has runs', () => {
  expect(ids({ concurrency: { ...concurrency, queued: 0 }, runners: [] })).toEqual([]);
  expect(ids({ queues: [queue('mail', true, 0)] })).toEqual([]);
});

test('a schedule is late after a minute, if it is active', () => {
  expect(ids({ schedules: [schedule(-2)] })).toEqual(['late']);
  expect(ids({ schedules: [schedule(-0.5), schedule(-9, false)] })).toEqual([]);
});
