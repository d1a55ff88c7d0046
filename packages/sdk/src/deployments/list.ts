import type { deploymentStatuses } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';
import { pages, type PageList } from '../client/page.ts';
import { fromWire, type Deployment } from './deployment.ts';

/** Which deployments. */
export interface ListDeploymentsParams {
  status?: (typeof deploymentStatuses)[number];
  /** A range back from now: a number and s, m, h, d or w, such as `7d`. Wins over `from` and `to`. */
  period?: string;
  from?: Date;
  to?: Date;
  /** Deployments a page: 1 to 100. Default 20. */
  limit?: number;
  /** Start after this deployment (its id). */
  after?: string;
}

/**
 * Deployments of the environment, the newest first. Await it for the first page, or iterate it for all. Throws a BadRequestError whose
 * `details` name a filter that cannot be understood.
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
