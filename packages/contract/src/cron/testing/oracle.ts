/*
 * An independent, slow implementation: it walks real minutes one by one, reads the wall clock of each from `Intl`, and applies the five rules
 * literally. It shares nothing with the tested code: neither the parsing of patterns, nor the calendar, nor the way offsets are found.
 */

export const MINUTE = 60_000;

/** A wall clock: real minute since 1970 to wall minute since 1970. */
export type WallClock = (minute: number) => number;

export function wallClock(zone: string): WallClock {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });
  return (minute) => {
    const [day = 0, month = 0, year = 0, hour = 0, min = 0] = format
      .format(minute * MINUTE)
      .split(/\D+/)
      .map(Number);
    return Date.UTC(year, month - 1, day, hour, min) / MINUTE;
  };
}

/** A range of real minutes with the wall clock of each. */
export interface Walk {
  readonly from: number;
  readonly walls: Int32Array;
  /** True when the wall clock first showed, or jumped over, this wall minute at this index. */
  readonly isFirst: (wall: number, index: number) => boolean;
}

/** The wall minute of every real minute in [from, to), assuming that a clock that agrees at both ends of `step` did not change in between. */
export function readWalk(clock: WallClock, from: number, to: number, step: number): Walk {
  const walls = new Int32Array(to - from);
  fill(clock, walls, from, from, to, step);
  let [min, max] = [Infinity, 0];
  for (const wall of walls) {
    if (wall < min) min = wall;
    if (wall > max) max = wall;
  }
  const firsts = new Int32Array(max - min + 1).fill(-1);
  let before = (walls[0] ?? 0) - 1;
  for (let i = 0; i < walls.length; i++) {
    const wall = walls[i] ?? 0;
    for (let at = Math.min(before + 1, wall); at <= wall; at++)
      if (firsts[at - min] === -1) firsts[at - min] = i;
    before = wall;
  }
  return { from, walls, isFirst: (wall, index) => firsts[wall - min] === index };
}

function fill(
  clock: WallClock,
  walls: Int32Array,
  base: number,
  from: number,
  to: number,
  step: number,
): void {
  let first = clock(from);
  for (let low = from; low < to; low += step) {
    const high = Math.min(low + step, to);
    const next = clock(high);
    if (next - first === high - low || step === 1) {
      for (let minute = low; minute < high; minute++) walls[minute - base] = first + minute - low;
    } else {
      fill(clock, walls, base, low, high, Math.max(1, Math.floor(step / 8)));
    }
    first = next;
  }
}

export interface Rule {
  readonly interval: boolean;
  /** By minute of the day. */
  readonly times: Uint8Array;
  /** By days since 1970. */
  readonly onDate: (day: number) => boolean;
}

const NAMES: Record<string, string[]> = {
  month: ' jan feb mar apr may jun jul aug sep oct nov dec'.split(' '),
  weekday: 'sun mon tue wed thu fri sat'.split(' '),
};
const ALIASES: Record<string, string> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
};

/** Parses a pattern by checking for every value whether the text contains it. */
export function readRule(pattern: string): Rule {
  const [minute = '', hour = '', date = '', month = '', weekday = ''] = (ALIASES[pattern] ?? pattern).split(
    ' ',
  );
  const times = new Uint8Array(1440);
  for (let time = 0; time < 1440; time++) {
    if (names(minute, time % 60, 0, 59) && names(hour, Math.floor(time / 60), 0, 23)) times[time] = 1;
  }
  const onDate = (day: number): boolean => {
    const then = new Date(day * 86_400_000);
    if (!names(month, then.getUTCMonth() + 1, 1, 12, NAMES['month'])) return false;
    const sameMonthIn = (days: number): boolean =>
      new Date((day + days) * 86_400_000).getUTCMonth() === then.getUTCMonth();
    const inWeek = then.getUTCDay();
    const byDate =
      names(date, then.getUTCDate(), 1, 31) || (!sameMonthIn(1) && date.split(',').includes('L'));
    const byWeekday =
      names(weekday, inWeek, 0, 6, NAMES['weekday']) ||
      (inWeek === 0 && weekday.split(',').some((item) => item.split('-').at(-1) === '7')) ||
      (!sameMonthIn(7) &&
        weekday.split(',').some((item) => item === `${inWeek}L` || (inWeek === 0 && item === '7L')));
    return open(date) || open(weekday) ? byDate && byWeekday : byDate || byWeekday;
  };
  const known = new Map<number, boolean>();
  return {
    interval: /[*?/]/.test(`${minute} ${hour}`),
    times,
    onDate: (day) => {
      let answer = known.get(day);
      if (answer === undefined) known.set(day, (answer = onDate(day)));
      return answer;
    },
  };
}

const open = (text: string): boolean => text === '*' || text === '?';

function names(text: string, value: number, min: number, max: number, words: string[] = []): boolean {
  return text.split(',').some((item) => {
    const [range = '', step = '1'] = item.split('/');
    const ends = range.split('-').map((end) => (words.includes(end) ? words.indexOf(end) : Number(end)));
    let [low = Number.NaN, high = item.includes('/') ? max : low] = ends;
    if (range === '*' || range === '?') [low, high] = [min, max];
    return value >= low && value <= high && (value - low) % Number(step) === 0;
  });
}

/** The real minutes in which `rule` runs. The first minutes of a walk only serve as the past. */
export function oracleRuns({ interval, times, onDate }: Rule, { from, walls, isFirst }: Walk): number[] {
  const runs: number[] = [];
  const matches = (wall: number): boolean => times[wall % 1440] === 1 && onDate(Math.floor(wall / 1440));
  let before = (walls[0] ?? 0) - 1;
  for (let i = 0; i < walls.length; i++) {
    const wall = walls[i] ?? 0;
    let runsNow = matches(wall) && (interval || isFirst(wall, i));
    if (!interval) {
      for (let skipped = before + 1; skipped < wall; skipped++) {
        if (matches(skipped) && isFirst(skipped, i)) runsNow = true;
      }
    }
    if (runsNow) runs.push(from + i);
    before = wall;
  }
  return runs;
}

export interface Change {
  /** The first real minute with the new offset. */
  readonly minute: number;
  /** Minutes the wall clock moved by: positive for a gap. */
  readonly moved: number;
}

/** Where the wall clock jumps between two real minutes, sampled every `step` minutes. */
export function findChanges(clock: WallClock, from: number, to: number, step: number): Change[] {
  const changes: Change[] = [];
  let first = clock(from);
  for (let low = from; low < to; low += step) {
    const high = Math.min(low + step, to);
    const next = clock(high);
    const moved = next - first - (high - low);
    if (moved !== 0) {
      if (high - low === 1) changes.push({ minute: high, moved });
      else changes.push(...findChanges(clock, low, high, Math.max(1, Math.floor((high - low) / 4))));
    }
    first = next;
  }
  return changes;
}
