const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/**
 * A size for people.
 *
 * @example bytesText(1_572_864) // '1.5 MiB'
 */
export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1_024 && unit < units.length - 1) {
    value /= 1_024;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}
