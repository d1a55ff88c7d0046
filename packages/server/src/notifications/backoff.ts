const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Pauses between attempts: a little over three days in total. */
const pauses = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
];

export const maxAttempts = pauses.length + 1;

/** Milliseconds until the next attempt, with up to 10 % jitter; undefined after the last attempt. */
export function pauseAfter(attempts: number, chance: number): number | undefined {
  const pause = pauses[attempts - 1];
  return pause === undefined ? undefined : Math.round(pause * (1 + chance / 10));
}
