import { type Cron, parseCron } from '@millrace/contract/cron';
import cronstrue from 'cronstrue';

/**
 * A cron expression in English, such as `Every 5 minutes` or `At 09:00 AM, Monday through Friday`.
 *
 * @throws {CronError} for an expression that cannot be read.
 */
export function describeCron(text: string): string {
  const cron = parseCron(text);
  const [minute, hour, day, month, weekday] = plainFields(cron);
  if (!cron.eitherDay) return cronstrue.toString(`${minute} ${hour} ${day} ${month} ${weekday}`);

  // The library joins the two day fields with "and" although either is sufficient, so each is described separately.
  const time = cronstrue.toString(`${minute} ${hour} * * *`);
  const clause = (fields: string): string =>
    cronstrue.toString(`${minute} ${hour} ${fields}`).slice(time.length);
  const onDay = clause(`${day} * *`);
  const onWeekday = clause(`* * ${weekday}`).replace(/^, (only )?/, ' or ');
  // A field such as */1 has no description: it matches every day, and so does the whole expression.
  const onDays = onDay === '' || onWeekday === '' ? '' : onDay + onWeekday;
  return `${time}${onDays}${clause(`* ${month} *`)}`;
}

/**
 * Rewrites the expression to equivalent forms that the library can describe well, or at all: `*` for `?` and for lists that contain it,
 * numbers without leading zeros, values instead of lists that contain steps (or, in day of week, ranges), one value instead of a range of
 * one, `L` at the end of a list.
 */
function plainFields(cron: Cron): string[] {
  const values = [cron.minutes, bits(cron.hours), bits(cron.days), bits(cron.months), bits(cron.weekdays)];
  return cron.text.split(' ').map((written, field) => {
    const text = written.replaceAll('?', '*').replaceAll(/\b0+(?=\d)/g, '');
    const items = text.split(',');
    if (items.includes('*')) return '*';
    const lasts = items.filter((item) => /l$/i.test(item) && !/^jul$/i.test(item));
    // No step leads from 7 to another day of the week.
    const mixed =
      items.length > 1 ? (field === 4 ? /[-/]/ : /\//).test(text) : field === 4 && text.startsWith('7/');
    const named = mixed ? (values[field] ?? []) : items.filter((item) => !lasts.includes(item));
    return [...named, ...lasts].map((item) => String(item).replace(/^(\w+)-\1$/, '$1')).join();
  });
}

function bits(mask: number): number[] {
  return Array.from({ length: 32 }, (_, bit) => bit).filter((bit) => ((mask >>> bit) & 1) === 1);
}
