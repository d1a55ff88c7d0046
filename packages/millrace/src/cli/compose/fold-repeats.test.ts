import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLog } from '@millrace/server';
import { foldJsonLines } from './fold-repeats.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function folded() {
  const written: string[] = [];
  const fold = foldJsonLines({ write: (line) => void written.push(line) });
  return {
    log: createLog(fold),
    fold,
    lines: () =>
      written.map((line) => {
        const { time, level, ...rest } = JSON.parse(line) as Record<string, unknown>;
        expect([typeof time, level]).toEqual(['string', 'warn']);
        return rest;
      }),
  };
}

test('a repeated line is counted, and written once in ten seconds with its count', () => {
  const { log, lines } = folded();
  for (let n = 0; n < 5; n++) {
    log.warn('runner.disconnected', { detail: 'refused' });
    log.warn('job.failed', { n });
    vi.advanceTimersByTime(1_000);
  }
  expect(lines()).toEqual([
    { event: 'runner.disconnected', detail: 'refused' },
    ...[0, 1, 2, 3, 4].map((n) => ({ event: 'job.failed', n })),
  ]);
  vi.advanceTimersByTime(5_000);
  expect(lines().at(-1)).toEqual({ event: 'runner.disconnected', detail: 'refused', repeated: 4 });
  log.warn('runner.disconnected', { detail: 'refused' });
  vi.advanceTimersByTime(10_000);
  expect(lines().at(-1)).toEqual({ event: 'runner.disconnected', detail: 'refused', repeated: 1 });
  vi.advanceTimersByTime(10_000);
  log.warn('runner.disconnected', { detail: 'refused' });
  expect(lines().at(-1)).toEqual({ event: 'runner.disconnected', detail: 'refused' });
});

test('counted lines are written at the end', () => {
  const { log, fold, lines } = folded();
  for (let n = 0; n < 3; n++) log.warn('dispatch.failed');
  fold.end();
  expect(lines()).toEqual([{ event: 'dispatch.failed' }, { event: 'dispatch.failed', repeated: 2 }]);
});
