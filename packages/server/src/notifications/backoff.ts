const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Pauses between attempts: together a little over three days. */
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

/** Milliseconds until the next attempt, up to a tenth more by chance; undefined when it has been tried often enough. */
export function pauseAfter(attempts: number, chance: number): number | undefined {
  const pause = pauses[attempts - 1];
  return pause === undefined ? undefined : Math.round(pause * (1 + chance / 10));
}
