import type { Cron } from './parse.ts';

/*
 * Matches cron fields on the wall clock. A wall time is milliseconds since 1970 as if local time were UTC, without zone and clock
 * changes. `next.ts` converts wall times to instants.
 */

const MINUTE = 60_000;
const DAY = 86_400_000;

/** First matching wall minute at or after `from` (itself a whole minute), or Infinity when there is none up to `limit`. */
export function nextWall(cron: Cron, from: number, limit: number): number {
  const date = new Date(from);
  let [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()];
  let dayNumber = Math.floor(from / DAY);
  let minute = (from - dayNumber * DAY) / MINUTE;
  while (dayNumber * DAY <= limit) {
    const length = monthLength(year, month);
    if (has(cron.months, month)) {
      for (; day <= length; day++, dayNumber++, minute = 0) {
        if (!dateMatches(cron, day, length, dayNumber)) continue;
        const time = timeFrom(cron, minute);
        if (time >= 0) return dayNumber * DAY + time * MINUTE;
      }
    } else {
      dayNumber += length - day + 1;
    }
    [day, minute] = [1, 0];
    if (++month > 12) [month, year] = [1, year + 1];
  }
  return Infinity;
}

/** Last matching wall minute at or before `until`, or -Infinity when there is none down to `limit`. */
export function previousWall(cron: Cron, until: number, limit: number): number {
  const date = new Date(until);
  let [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()];
  let dayNumber = Math.floor(until / DAY);
  let minute = Math.floor((until - dayNumber * DAY) / MINUTE);
  while ((dayNumber + 1) * DAY > limit) {
    if (has(cron.months, month)) {
      const length = monthLength(year, month);
      for (; day > 0; day--, dayNumber--, minute = 1439) {
        if (!dateMatches(cron, day, length, dayNumber)) continue;
        const time = timeUntil(cron, minute);
        if (time >= 0) return dayNumber * DAY + time * MINUTE;
      }
    } else {
      dayNumber -= day;
    }
    if (--month < 1) [month, year] = [12, year - 1];
    [day, minute] = [monthLength(year, month), 1439];
  }
  return -Infinity;
}

function dateMatches(cron: Cron, day: number, length: number, dayNumber: number): boolean {
  // 1970-01-01 was a Thursday; the double remainder keeps earlier days positive.
  const weekday = (((dayNumber + 4) % 7) + 7) % 7;
  const onDay = has(cron.days, day) || (cron.lastDay && day === length);
  const onWeekday = has(cron.weekdays, weekday) || (has(cron.lastWeekdays, weekday) && day + 7 > length);
  return cron.eitherDay ? onDay || onWeekday : onDay && onWeekday;
}

/** First matching minute of the day at or after `minute`, or -1. */
function timeFrom(cron: Cron, minute: number): number {
  if (minute > 1439) return -1;
  const hour = Math.floor(minute / 60);
  if (has(cron.hours, hour)) {
    for (const m of cron.minutes) if (hour * 60 + m >= minute) return hour * 60 + m;
  }
  const later = cron.hours & (-1 << (hour + 1));
  return later === 0 ? -1 : (31 - Math.clz32(later & -later)) * 60 + (cron.minutes[0] ?? 0);
}

/** Last matching minute of the day at or before `minute`, or -1. */
function timeUntil(cron: Cron, minute: number): number {
  const hour = Math.floor(minute / 60);
  if (has(cron.hours, hour)) {
    for (let i = cron.minutes.length - 1; i >= 0; i--) {
      const time = hour * 60 + (cron.minutes[i] ?? 0);
      if (time <= minute) return time;
    }
  }
  const earlier = cron.hours & ((1 << hour) - 1);
  return earlier === 0 ? -1 : (31 - Math.clz32(earlier)) * 60 + (cron.minutes.at(-1) ?? 0);
}

function has(mask: number, bit: number): boolean {
  return ((mask >>> bit) & 1) === 1;
}

function monthLength(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
