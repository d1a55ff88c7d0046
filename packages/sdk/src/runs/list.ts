import type { RunListItem, RunStatus } from '@millrace/contract';
import type { MachinePreset } from '@millrace/contract/runner';
import { currentClient } from '../client/current-client.ts';
import { pages, type PageList } from '../client/page.ts';
import { joined, milliseconds, pageQuery } from '../client/query.ts';
import type { QueueName } from '../queues/queue.ts';
import { dated, type Dated } from './run.ts';

/** A run as returned in lists: without payload, output and error. */
export type ListedRun = Dated<Omit<RunListItem, 'error'>>;

/** A value at a declared path. */
export type PathValue = string | number | boolean;

/** Filters for runs. A list matches any of its values; all filters must match. */
export interface ListRunsParams {
  status?: RunStatus | RunStatus[];
  taskIdentifier?: string | string[];
  /** Worker versions, such as `20261121.3`. */
  version?: string | string[];
  tag?: string | string[];
  queue?: QueueName | QueueName[];
  /** The machine that the trigger requested. */
  machine?: MachinePreset | MachinePreset[];
  /** The region that the trigger requested. */
  region?: string | string[];
  isTest?: boolean;
  /** `sched_…` */
  schedule?: string;
  /** `error_…`: runs that failed with this error group. */
  error?: string;
  /** Part of the type or message of the error, case-insensitive. Numbers and ids in messages are not searchable. */
  errorText?: string;
  /**
   * Metadata values at declared paths (`runs.declarePath`), such as `{ 'customer.id': 42 }`. A list matches any of its values; all paths
   * must match. A number and its text are equal.
   */
  metadata?: Readonly<Record<string, PathValue | readonly PathValue[]>>;
  /** Payload values at declared paths, in the same form as `metadata`. */
  payload?: Readonly<Record<string, PathValue | readonly PathValue[]>>;
  /** `batch_…` */
  batch?: string;
  /** `bulk_…`: the runs that it canceled, or the replays that it created. */
  bulkAction?: string;
  /** A range up to now: a number and s, m, h, d or w. Takes precedence over `from` and `to`. Default without any of the three: `7d`. */
  period?: string;
  /** Created at or after this time: a date, or milliseconds since 1970. */
  from?: Date | number;
  /** Created at or before this time: a date, or milliseconds since 1970. */
  to?: Date | number;
  /** Runs per page: 1 to 100. Default 25. */
  limit?: number;
  /** Start after this run or cursor. */
  after?: string;
  /** Start before this run or cursor. Takes precedence over `after`. */
  before?: string;
}

/** Filters for the runs of a project. */
export interface ListProjectRunsParams extends ListRunsParams {
  /** `dev`, `stg`, `prod`, `preview`. Default: all, including branches. */
  env?: string | string[];
}

const queueText = ({ type, name }: QueueName) => (type === 'task' ? `task/${name}` : name);

/** The filters as query parameters. */
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
 * Runs, newest first. Await the result for the first page, or iterate over it for all. Without a time range, covers the last seven days. With a
 * project reference as the first argument, and a personal access token, covers all environments of the project. Throws a BadRequestError whose
 * `details` name an invalid filter.
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
