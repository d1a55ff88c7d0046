import { expect, test } from 'vitest';
import type { Operation } from '../history/types.ts';
import { availabilityOf } from './availability.ts';

const trigger = (invokedAt: number, endedAt: number, error?: string): Operation => ({
  call: 'trigger',
  task: 'quick',
  key: String(invokedAt),
  invokedAt,
  endedAt,
  ...(error !== undefined && { error }),
});

test('measures the longest time without an acknowledged trigger, and the longest call', () => {
  const operations = [
    trigger(0, 100),
    trigger(200, 5_400),
    trigger(6_000, 6_100, 'failed'),
    { call: 'send', channel: 'c', value: 'a', invokedAt: 300, endedAt: 7_300 } as const,
  ];
  expect(availabilityOf(operations, [])).toEqual({
    calls: 4,
    failedCalls: 1,
    maxOutage: 5.3,
    maxCall: 7,
    recovery: undefined,
  });
});

test('does not count the time after the last trigger was sent as an outage', () => {
  const operations = [trigger(0, 100), trigger(200, 60_000), trigger(1_000, 1_100)];
  expect(availabilityOf(operations, []).maxOutage).toBe(0.9);
});

test('measures the slowest recovery after the database answers again', () => {
  const probes = [true, false, true, true, false, true].map((ok, index) => ({
    id: String(index),
    at: index * 1_000,
    ok,
  }));
  const operations = [trigger(0, 10), trigger(0, 2_500), trigger(0, 9_000)];
  expect(availabilityOf(operations, probes).recovery).toBe(4);
  expect(availabilityOf(operations, probes.slice(0, 4)).recovery).toBe(0.5);
});

test('begins a recovery after the last failed write, if others succeeded between failures', () => {
  const probes = [true, false, true, false, true].map((ok, index) => ({
    id: String(index),
    at: index * 1_000,
    ok,
  }));
  expect(availabilityOf([trigger(0, 10), trigger(0, 4_500)], probes).recovery).toBe(0.5);
});

test('counts a reader that failed as a failed call, and no record that it received', () => {
  const read = {
    call: 'read',
    channel: 'c',
    reader: 'r',
    seq: 0,
    value: 'a',
    invokedAt: 0,
    endedAt: 0,
  } as const;
  expect(availabilityOf([read, { ...read, error: 'failed' }], [])).toMatchObject({
    calls: 1,
    failedCalls: 1,
  });
});
