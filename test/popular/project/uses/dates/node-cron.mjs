import cron from 'node-cron';

/** Background tasks are a file that it starts. */
export default async () => [cron.validate('* * * * *'), cron.validate('x')];
