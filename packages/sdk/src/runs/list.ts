import type { RunListItem, RunStatus } from '@millrace/contract';
import type { MachinePreset } from '@millrace/contract/runner';
import { currentClient } from '../client/current-client.ts';
import { pages, type PageList } from '../client/page.ts';
import { joined, milliseconds, pageQuery } from '../client/query.ts';
import type { QueueName } from '../queues/queue.ts';
import { dated, type Dated } from './run.ts';

/** A run as a list shows it: without payload, output and error. */
export type ListedRun = Dated<RunListItem>;

/** A value at a declared path. */
export type PathValue = string | number | boolean;

/** Which runs. Lists mean any of them; several filters mean all of them. */
export interface ListRunsParams {
  status?: RunStatus | RunStatus[];
  taskIdentifier?: string | string[];
  /** Worker versions, such as `20261121.3`. */
  version?: string | string[];
  tag?: string | string[];
  queue?: QueueName | QueueName[];
  /** The machine that the trigger asked for. */
  machine?: MachinePreset | MachinePreset[];
  /** The region that the trigger named. */
  region?: string | string[];
  isTest?: boolean;
  /** `sched_…` */
  schedule?: string;
  /** `error_…`: runs that failed with this error group. */
  error?: string;
  /** A piece of the type or the message of the error, in any case. Numbers and ids in messages are not part of what is searched. */
  errorText?: string;
  /**
   * Values of the metadata at declared paths (`runs.declarePath`), such as `{ 'customer.id': 42 }`. A list means any of them; several paths
   * mean all of them. A number and its text are the same.
   */
  metadata?: Readonly<Record<string, PathValue | readonly PathValue[]>>;
  /** The same of the payload. */
  payload?: Readonly<Record<string, PathValue | readonly PathValue[]>>;
  /** `batch_…` */
  batch?: string;
  /** `bulk_…`: the runs that it cancelled, or the replays that it made. */
  bulkAction?: string;
  /** A range back from now: a number and s, m, h, d or w. Wins over `from` and `to`. Without any of the three: `7d`. */
  period?: string;
  /** Created then or later: a date, or milliseconds since 1970. */
  from?: Date | number;
  /** Created then or earlier: a date, or milliseconds since 1970. */
  to?: Date | number;
  /** Runs a page: 1 to 100. Default 25. */
  limit?: number;
  /** Start after this run or cursor. */
  after?: string;
  /** Start before this run or cursor. Wins over `after`. */
  before?: string;
}

/** Which runs of a project. */
export interface ListProjectRunsParams extends ListRunsParams {
  /** `dev`, `stg`, `prod`, `preview`. Default: all, branches included. */
  env?: string | string[];
}

const queueText = ({ type, name }: QueueName) => (type === 'task' ? `task/${name}` : name);

/** Filters as the query has them. */
export const filtersOf = (params: ListProjectRunsParams) => ({
  'page[size]': params.limit,
  'filter[env]': joined(params.env),
  'filter[status]': joined(params.status),
  'filter[taskIdentifier]': joined(params.taskIdentifier),
  'filter[version]': joined(params.version),
  'filter[tag]': joined(params.tag),
  'filter[queue]': params.queue && [params.queue].flat().map(queueText).join(','),
  'filter[machine]': joined(params.machine),
  'filter[region]': joined(params.region),
  'filter[isTest]': params.isTest === undefined ? undefined : String(params.isTest),
  'filter[schedule]': params.schedule,
  'filter[error]': params.error,
  'filter[errorText]': params.errorText,
  'filter[metadata]': params.metadata && JSON.stringify(params.metadata),
  'filter[payload]': params.payload && JSON.stringify(params.payload),
  'filter[batch]': params.batch,
  'filter[bulkAction]': params.bulkAction,
  'filter[createdAt][period]': params.period,
  'filter[createdAt][from]': milliseconds(params.from),
  'filter[createdAt][to]': milliseconds(params.to),
});

/**
 * Runs, newest first. Await it for the first page, or iterate it for all. Without a time range, of the last seven days. With a
 * project's reference first, and a personal access token, of all environments of the project.
 * Throws a BadRequestError whose `details` name a filter that cannot be understood.
 *
 * @example
 * for await (const run of runs.list({ status: ['QUEUED', 'EXECUTING'], tag: 'user:42' })) {
 *   console.log(run.id, run.taskIdentifier, run.createdAt);
 * }
 *
 * @example
 * const page = await runs.list('proj_…', { env: 'prod', status: 'FAILED', period: '1d' });
 */
export function list(params?: ListRunsParams): PageList<ListedRun>;
export function list(projectRef: string, params?: ListProjectRunsParams): PageList<ListedRun>;
export function list(
  first: string | ListRunsParams = {},
  second: ListProjectRunsParams = {},
): PageList<ListedRun> {
  const client = currentClient();
  const params: ListProjectRunsParams = typeof first === 'string' ? second : first;
  const filters = filtersOf(params);
  return pages(async (cursor) => {
    const query = { ...filters, ...pageQuery(cursor) };
    const { data, pagination } = await (typeof first === 'string'
      ? client.call('listProjectRuns', { params: { projectRef: first }, query })
      : client.call('listRuns', { query }));
    return { data: data.map((run) => dated(run)), pagination };
  }, params);
}
