import { setTimeout as pause } from 'node:timers/promises';
import { logger, schedules } from '@millrace/sdk';
import { call } from '../lib/service.ts';

export const exchangeRates = schedules.task({
  id: 'exchange-rates',
  description: 'Fetches the current exchange rates',
  cron: { pattern: '* * * * *', missed: 'skip', environments: ['PRODUCTION'] },
  retry: { maxAttempts: 1 },
  run: ({ timestamp }) => call<{ EUR: number }>('rates', `/latest?at=${timestamp.toISOString()}`),
});

export const nightlyReport = schedules.task({
  id: 'nightly-report',
  description: 'Totals the sales of the previous day',
  cron: { pattern: '30 2 * * *', timezone: 'Europe/Paris', missed: 'skip', environments: ['PRODUCTION'] },
  run: async ({ timestamp, timezone }) => {
    const day = new Intl.DateTimeFormat('en-CA', { timeZone: timezone }).format(timestamp);
    logger.info('Adding up', { day });
    const { orders } = await call<{ orders: number }>('erp', `/sales/${day}`);
    return { day, orders };
  },
});

export const abandonedCarts = schedules.task({
  id: 'abandoned-carts',
  description: 'Reminds customers of abandoned carts',
  cron: {
    pattern: '0 9-21 * * *',
    timezone: 'America/New_York',
    window: '10m',
    missed: 'skip',
    environments: ['PRODUCTION'],
  },
  run: async ({ timestamp }) => ({ reminded: timestamp.getUTCHours() % 7 }),
});

export const priceWatch = schedules.task({
  id: 'price-watch',
  description: 'Compares our prices with those of another shop; each market has its own schedule',
  run: async ({ externalId, timestamp, timezone }) => {
    logger.info('Comparing prices', { market: externalId, timezone, at: timestamp });
    await pause(200);
    return { market: externalId, compared: 40 + (timestamp.getUTCMinutes() % 17) };
  },
});
