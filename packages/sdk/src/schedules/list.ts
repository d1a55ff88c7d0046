import { currentClient } from '../client/current-client.ts';
import { numberedPages, type PageList } from '../client/page.ts';
import { fromWire, type Schedule } from './schedule.ts';

/** Paging for schedules. */
export interface ListSchedulesParams {
  /** Starts at 1. Default 1. */
  page?: number;
  /** Schedules per page, at most 100. Default 20. */
  perPage?: number;
}

/**
 * Schedules of the environment, newest first. Await the result for one page, or iterate over it for that page and all later ones.
 *
 * @example
 * for await (const schedule of schedules.list()) console.log(schedule.id, schedule.nextRun);
 */
export function list({ page: first = 1, perPage }: ListSchedulesParams = {}): PageList<Schedule> {
  const client = currentClient();
  return numberedPages(first, async (page) => {
    const query = { page, perPage };
    const { data, pagination } = await client.call('listSchedules', { query });
    return { data: data.map(fromWire), pagination };
  });
}
