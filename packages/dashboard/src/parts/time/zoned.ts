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

/** What the clocks of a zone show, as milliseconds since 1970 of the same numbers in UTC. */
function shownAt(at: number, zone: string): number {
  const part = Object.fromEntries(
    partsFormat(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  ) as Readonly<Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', number>>;
  return Date.UTC(part.year, part.month - 1, part.day, part.hour, part.minute, part.second);
}

/**
 * The instant at which the clocks of a zone show a time, as a field of type `datetime-local` has it. A time that is skipped is the same time after
 * the clocks were put forward; of one that comes twice, it is the first. Undefined if it is no time.
 *
 * @example zonedInstant('2026-11-23T09:00', 'Europe/Paris') // 2026-11-23T08:00:00Z
 */
export function zonedInstant(text: string, zone: string): number | undefined {
  const wanted = Date.parse(`${text}Z`);
  if (Number.isNaN(wanted)) return undefined;
  const day = 86_400_000;
  const offsets = [
    shownAt(wanted - day, zone) - (wanted - day),
    shownAt(wanted + day, zone) - (wanted + day),
  ];
  const found = offsets.map((offset) => wanted - offset).filter((at) => shownAt(at, zone) === wanted);
  return found.length > 0 ? Math.min(...found) : wanted - (offsets[0] as number);
}

/** What a field of type `datetime-local` has for an instant, to the minute. */
export const zonedText = (at: number, zone: string): string =>
  new Date(shownAt(at, zone)).toISOString().slice(0, 16);
