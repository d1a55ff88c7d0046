const unitSeconds = { w: 604_800, d: 86_400, hr: 3_600, h: 3_600, m: 60, s: 1 } as const;

/** Seconds of a duration such as `90s`, `1h30m` or `2d`; undefined if it is invalid. Units: w, d, h (or hr), m, s. */
export function parseDuration(text: string): number | undefined {
  if (text.length > 100 || !/^(?:\d+(?:w|d|hr|h|m|s))+$/.test(text)) return undefined;
  let seconds = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+)(w|d|hr|h|m|s)/g)) {
    seconds += Number(amount) * unitSeconds[unit as keyof typeof unitSeconds];
  }
  return Number.isSafeInteger(seconds) ? seconds : undefined;
}
