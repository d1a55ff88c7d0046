import { CronExpressionParser } from 'cron-parser';

export default async () =>
  CronExpressionParser.parse('0 0 * * *', { currentDate: new Date(0), tz: 'UTC' })
    .next()
    .toISOString();
