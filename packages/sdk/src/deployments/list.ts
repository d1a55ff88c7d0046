import type { deploymentStatuses } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';
import { pages, type PageList } from '../client/page.ts';
import { fromWire, type Deployment } from './deployment.ts';

/** Filters and paging for deployments. */
export interface ListDeploymentsParams {
  status?: (typeof deploymentStatuses)[number];
  /** A range up to now: a number and s, m, h, d or w, such as `7d`. Takes precedence over `from` and `to`. */
  period?: string;
  from?: Date;
  to?: Date;
  /** Deployments per page: 1 to 100. Default 20. */
  limit?: number;
  /** Start after this deployment (its id). */
  after?: string;
}

/**
 * Deployments of the environment, newest first. Await the result for the first page, or iterate over it for all. Throws a BadRequestError whose
 * `details` name an invalid filter.
 *
 * @example
 * for await (const { version, state, liveRuns } of deployments.list()) console.log(version, state, liveRuns);
 */
export function list(params: ListDeploymentsParams = {}): PageList<Deployment> {
  const client = currentClient();
  const { status, period, from, to, limit } = params;
  const filters = {
    'page[size]': limit,
    status,
    period,
    from: from?.toISOString(),
    to: to?.toISOString(),
  };
  return pages(
    async ({ after }) => {
      const query = { ...filters, 'page[after]': after };
      const { data, pagination } = await client.call('listDeployments', { query });
      return { data: data.map(fromWire), pagination };
    },
    { after: params.after, before: undefined },
  );
}
