const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/**
 * A human-readable length of time, in at most two units. For programs, use `durationText`.
 *
 * @example readableDuration(83_000) // '1m 23s'
 */
export function readableDuration(ms: number): string {
  const length = Math.max(0, ms);
  if (length < 10 && !Number.isInteger(length)) return `${length.toFixed(1)}ms`;
  if (length < second) return `${Math.round(length)}ms`;
  if (length < 10 * second) return `${(Math.floor(length / 100) / 10).toFixed(1)}s`;
  if (length < minute) return `${Math.floor(length / second)}s`;
  const [unit, letter, below, smallLetter] =
    length < hour
      ? ([minute, 'm', second, 's'] as const)
      : length < day
        ? ([hour, 'h', minute, 'm'] as const)
        : ([day, 'd', hour, 'h'] as const);
  const rest = Math.floor((length % unit) / below);
  return `${Math.floor(length / unit)}${letter}${rest > 0 ? ` ${rest}${smallLetter}` : ''}`;
}

const units = ['B', 'kB', 'MB', 'GB', 'TB'];

/**
 * A human-readable number of bytes, in steps of 1,000.
 *
 * @example readableSize(1_572_864) // '1.6 MB'
 */
export function readableSize(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1_000 && unit < units.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}
