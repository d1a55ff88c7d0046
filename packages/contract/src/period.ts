const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** Milliseconds of a relative range such as `7d` or `30m`; undefined if it is invalid or not positive. */
export function parsePeriodMs(text: string): number | undefined {
  const match = /^(\d{1,9})([smhdw])$/.exec(text);
  if (!match) return undefined;
  const ms = Number(match[1]) * unitMs[match[2] as keyof typeof unitMs];
  return ms > 0 && ms <= 8.64e15 / 1_000 ? ms : undefined;
}
