const formats = new Map<string, Intl.DateTimeFormat>();

function partsFormat(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
    });
    formats.set(zone, format);
  }
  return format;
}

/** The wall clock of a zone, as milliseconds since 1970 of the same numbers in UTC. */
function shownAt(at: number, zone: string): number {
  const part = Object.fromEntries(
    partsFormat(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  ) as Readonly<Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', number>>;
  return Date.UTC(part.year, part.month - 1, part.day, part.hour, part.minute, part.second);
}

/**
 * The instant of a wall time in a zone, in the format of a `datetime-local` field. A skipped time is moved past the gap; for a repeated one,
 * the first is used. Undefined if it is not a time.
 *
 * @example zonedInstant('2026-11-23T09:00', 'Europe/Paris') // 2026-11-23T08:00:00Z
 */
export function zonedInstant(text: string, zone: string): number | undefined {
  const wallTime = Date.parse(`${text}Z`);
  if (Number.isNaN(wallTime)) return undefined;
  const day = 86_400_000;
  const offsets = [
    shownAt(wallTime - day, zone) - (wallTime - day),
    shownAt(wallTime + day, zone) - (wallTime + day),
  ];
  const found = offsets.map((offset) => wallTime - offset).filter((at) => shownAt(at, zone) === wallTime);
  return found.length > 0 ? Math.min(...found) : wallTime - (offsets[0] as number);
}

/** The value of a `datetime-local` field for an instant, to the minute. */
export const zonedText = (at: number, zone: string): string =>
  new Date(shownAt(at, zone)).toISOString().slice(0, 16);
