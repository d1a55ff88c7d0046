import { setTimeout as pause } from 'node:timers/promises';
import { schedules } from '@millrace/sdk';

const minute = 60_000;
const hour = 60 * minute;

/** A schedule whose task no longer exists in a later release. */
export const addOldSchedule = (): Promise<unknown> =>
  schedules.create({
    task: 'close-books',
    cron: '0 * * * *',
    missed: 'skip',
    deduplicationKey: 'close-books',
  });

const missedMs = 20_000;

/** Waits until the server has recorded the missed ticks of that schedule, which takes up to a second. */
export async function ticksMissed(): Promise<void> {
  for (const deadline = performance.now() + missedMs; performance.now() < deadline; await pause(100)) {
    const { data } = await schedules.ticks('close-books');
    if (data.some((tick) => tick.outcome === 'skipped' && tick.reason === 'missed')) return;
  }
  throw new Error(`No tick of close-books was missed within ${missedMs / 1_000} s.`);
}

const markets = [
  { market: 'jp', cron: '0 9 * * mon-fri', timezone: 'Asia/Tokyo' },
  { market: 'au', cron: '30 8 * * *', timezone: 'Australia/Sydney', window: '15m' },
  { market: 'de', cron: '*/15 * * * *', timezone: 'Europe/Berlin', overlap: 'skip' },
  { market: 'us', cron: '0 7 * * *', timezone: 'America/Los_Angeles', missed: 'all:6h' },
  { market: 'br', cron: '0 6 1 * *', timezone: 'America/Sao_Paulo', overlap: 'queue' },
  { market: 'in', cron: '15 10 * * *', timezone: 'Asia/Kolkata' },
] as const;

/** A schedule for each market; one of them is deactivated. */
export async function addSchedules(): Promise<void> {
  for (const { market, ...settings } of markets) {
    await schedules.create({
      task: 'price-watch',
      missed: 'skip',
      externalId: market,
      deduplicationKey: `price-watch-${market}`,
      active: market !== 'in',
      ...settings,
    });
  }
}

/** Backfills past ticks, in addition to the missed ones. */
export async function backfillSchedules(now: number): Promise<void> {
  const ranges: Readonly<Record<string, number>> = {
    'nightly-report': 14 * 24 * hour,
    'exchange-rates': 25 * minute,
    'abandoned-carts': 24 * hour,
  };
  for await (const { id, task, externalId } of schedules.list()) {
    const range = externalId === 'de' ? 6 * hour : ranges[task];
    if (range === undefined) continue;
    await schedules.backfill(id, { from: new Date(now - range), to: new Date(now) });
  }
}
