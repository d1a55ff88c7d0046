import type { OverlapRule } from '@millrace/contract';
import { CronError } from '@millrace/contract/cron';
import type { Queryable } from '../db/connect.ts';
import { unprocessable } from '../problem.ts';
import { describeCron } from './describe.ts';
import { readPattern, tickAfter, tickAt, type Pattern, type Tick, type Written } from './pattern.ts';
import { patternOf, type ScheduleRow } from './row.ts';
import { defaultMissed, defaultOverlap, oneByOneQueue, readMissedRule } from './rules.ts';

/** The settings in a request or a declaration. */
export interface Settings extends Written {
  readonly externalId?: string | null | undefined;
  readonly missed?: string | null | undefined;
  readonly overlap?: OverlapRule | null | undefined;
}

/** The columns that follow from the settings. */
export interface SettingColumns {
  readonly cron: string;
  readonly description: string;
  readonly timezone: string;
  readonly spread: string | null;
  readonly externalId: string | null;
  readonly missed: string;
  readonly overlap: OverlapRule;
  readonly since: Date;
  readonly nextNominal: Date | null;
  readonly nextAt: Date | null;
}

/** Reads settings for the schedule `id`, new or with its current `row`. 422 with the fix for invalid settings. */
export function readSettings(id: string, settings: Settings, now: number, row?: ScheduleRow): SettingColumns {
  const pattern = readable(() => readPattern(id, settings));
  const missed = settings.missed ?? defaultMissed;
  readMissedRule(missed);
  const isSame = row !== undefined && firesAlike(row, pattern);
  const next = row?.active === false ? undefined : nextTick(pattern, now, row, isSame);
  return {
    cron: settings.cron.trim(),
    description: describeCron(settings.cron),
    timezone: pattern.timezone,
    spread: settings.window || null,
    externalId: settings.externalId || null,
    missed,
    overlap: settings.overlap ?? defaultOverlap,
    since: isSame ? row.since : new Date(now),
    nextNominal: next ? new Date(next.nominal) : null,
    nextAt: next ? new Date(next.due) : null,
  };
}

/** Deploying the same settings again, even at the moment of a tick, does not lose ticks, because unfired ticks remain due. */
function nextTick(
  pattern: Pattern,
  now: number,
  row: ScheduleRow | undefined,
  isSame: boolean,
): Tick | undefined {
  const pending =
    row?.next_nominal && row.next_at
      ? { nominal: row.next_nominal.getTime(), due: row.next_at.getTime() }
      : undefined;
  if (pending && isSame) return tickAt(pattern, pending.nominal);
  return pending && pending.due <= now ? pending : tickAfter(pattern, now);
}

/**
 * Whether the ticks stay the same. The window changes only their start. The zone is compared first, because this runtime may no longer have
 * the old one.
 */
const firesAlike = (row: ScheduleRow, { cron, timezone }: Pattern): boolean =>
  row.timezone === timezone && patternOf(row).cron.text.toLowerCase() === cron.text.toLowerCase();

/** An error from the cron library is one that the caller must fix. */
export function readable<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof CronError) throw unprocessable(error.message);
    throw error;
  }
}

/** The queue for `overlap: 'queue'`, with one slot per key. */
export async function ensureQueue(sql: Queryable, env: number, overlap: OverlapRule): Promise<void> {
  if (overlap !== 'queue') return;
  await sql`
    insert into queues (env, name, concurrency_limit) values (${env}, ${oneByOneQueue}, 1)
    on conflict (env, name) do update set concurrency_limit = 1 where queues.concurrency_limit is distinct from 1`;
}
