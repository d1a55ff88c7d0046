import { expect, test } from 'vitest';
import { createTokenClock } from './token-clock.ts';

const minute = 60_000;
const hour = 60 * minute;

/** A clock whose monotonic time starts at 0. */
function start() {
  let at = 0;
  const clock = createTokenClock(() => at);
  return { clock, pass: (ms: number) => void (at += ms) };
}

test('follows each measurement', () => {
  const { clock, pass } = start();
  clock.measured(1_000 * hour);
  expect(clock.now()).toBe(1_000 * hour);
  pass(minute);
  clock.measured(1_000 * hour + 900);
  expect(clock.now()).toBe(1_000 * hour + minute + 900);
});

test('stays at the earlier time for a while after the clock jumps ahead', () => {
  const { clock, pass } = start();
  clock.measured(1_000 * hour);
  clock.measured(1_001 * hour);
  pass(14 * minute);
  clock.measured(1_001 * hour);
  expect(clock.now()).toBe(1_000 * hour + 14 * minute);
  pass(minute);
  expect(clock.now()).toBe(1_001 * hour + 15 * minute);
});

test('stays at the earliest of several times, and immediately follows a clock that is set back', () => {
  const { clock, pass } = start();
  clock.measured(1_000 * hour);
  clock.measured(1_001 * hour);
  pass(10 * minute);
  clock.measured(1_002 * hour);
  expect(clock.now()).toBe(1_000 * hour + 10 * minute);
  clock.measured(999 * hour);
  expect(clock.now()).toBe(999 * hour + 10 * minute);
  pass(15 * minute);
  expect(clock.now()).toBe(999 * hour + 25 * minute);
});
