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

  // The library says "and" between the two kinds of day where either is enough, so each is worded by itself.
  const time = cronstrue.toString(`${minute} ${hour} * * *`);
  const clause = (fields: string): string =>
    cronstrue.toString(`${minute} ${hour} ${fields}`).slice(time.length);
  const onDay = clause(`${day} * *`);
  const onWeekday = clause(`* * ${weekday}`).replace(/^, (only )?/, ' or ');
  // A field such as */1 has no words of its own: it names every day, and then so does the whole.
  const onDays = onDay === '' || onWeekday === '' ? '' : onDay + onWeekday;
  return `${time}${onDays}${clause(`* ${month} *`)}`;
}

/**
 * The same times in the forms that the library words well, or at all: `*` for `?` and for lists that hold it, numbers without leading
 * zeros, values instead of lists that hold steps (or, in day of week, ranges), one value instead of a range of one, `L` at the end of
 * a list.
 */
function plainFields(cron: Cron): string[] {
  const values = [cron.minutes, bits(cron.hours), bits(cron.days), bits(cron.months), bits(cron.weekdays)];
  return cron.text.split(' ').map((written, field) => {
    const text = written.replaceAll('?', '*').replaceAll(/\b0+(?=\d)/g, '');
    const items = text.split(',');
    if (items.includes('*')) return '*';
    const lasts = items.filter((item) => /l$/i.test(item) && !/^jul$/i.test(item));
    // From 7 on there is no other day of the week, whatever the step.
    const mixed =
      items.length > 1 ? (field === 4 ? /[-/]/ : /\//).test(text) : field === 4 && text.startsWith('7/');
    const named = mixed ? (values[field] ?? []) : items.filter((item) => !lasts.includes(item));
    return [...named, ...lasts].map((item) => String(item).replace(/^(\w+)-\1$/, '$1')).join();
  });
}

function bits(mask: number): number[] {
  return Array.from({ length: 32 }, (_, bit) => bit).filter((bit) => ((mask >>> bit) & 1) === 1);
}
