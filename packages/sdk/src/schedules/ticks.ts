import type { ScheduleTick as WireTick } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';
import { pages, type PageList } from '../client/page.ts';
import { scheduleId, type ScheduleReference } from './schedule.ts';

type Moment = 'nominalAt' | 'dueAt' | 'firedAt' | 'untilAt' | 'recordedAt';
type Dated<T> = T extends unknown ? { readonly [K in keyof T]: K extends Moment ? Date : T[K] } : never;

/** The result of a tick: `fired` with its run, or `skipped` with the reason. Consecutive ticks skipped for the same reason are combined. */
export type ScheduleTick = Dated<WireTick>;

/** Filters and paging for ticks. */
export interface ListTicksOptions {
  /** Only ticks that created a run, or only ticks that created none. */
  outcome?: 'fired' | 'skipped';
  /** Ticks per page: 1 to 100. Default 50. */
  limit?: number;
}

/**
 * The results of a schedule's ticks in the last 30 days, newest first. Await the result for the first page, or iterate over it for all. Throws
 * a NotFoundError for an unknown schedule.
 *
 * @example
 * for await (const tick of schedules.ticks('sched_…', { outcome: 'skipped' })) console.log(tick.nominalAt, tick);
 */
export function ticks(
  schedule: ScheduleReference,
  { outcome, limit }: ListTicksOptions = {},
): PageList<ScheduleTick> {
  const client = currentClient();
  const params = { scheduleId: scheduleId(schedule) };
  return pages(async ({ after }) => {
    const { data, pagination } = await client.call('listScheduleTicks', {
      params,
      query: { 'filter[outcome]': outcome, 'page[after]': after, 'page[size]': limit },
    });
    return { data: data.map(fromWire), pagination };
  }, {});
}

const moments = ['nominalAt', 'dueAt', 'firedAt', 'untilAt', 'recordedAt'] as const;

function fromWire(tick: WireTick): ScheduleTick {
  const copy: Record<string, unknown> = { ...tick };
  for (const name of moments) if (typeof copy[name] === 'string') copy[name] = new Date(copy[name]);
  return copy as ScheduleTick;
}
