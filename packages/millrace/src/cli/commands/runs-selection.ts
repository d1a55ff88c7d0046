import type { RunStatus } from '@millrace/contract/plain';
import type { BulkRunsFilter } from '@millrace/sdk';
import { type Command, Option } from 'commander';
import { instant } from '../options.ts';
import { pathFilter, queueNamed, type PathFilter } from './runs-list.ts';

export interface SelectionOptions {
  readonly task?: string;
  readonly status?: RunStatus;
  readonly tag?: string;
  readonly queue?: string;
  readonly runVersion?: string;
  readonly schedule?: string;
  readonly error?: string;
  readonly errorText?: string;
  readonly metadataValue?: PathFilter;
  readonly payloadValue?: PathFilter;
  readonly period?: string;
  readonly from?: Date;
  readonly to?: Date;
}

/** The options that select runs by filters. */
export const withSelectionOptions = (
  command: Command,
  { statuses, defaultPeriod }: { readonly statuses: readonly RunStatus[]; readonly defaultPeriod: string },
): Command =>
  command
    .option('--task <id>', 'filter by task ID')
    .addOption(new Option('--status <status>', 'filter by status').choices(statuses))
    .option('--tag <tag>', 'filter by tag')
    .option('--queue <name>', 'filter by queue name; task/<id> is the queue of a task')
    .option('--run-version <version>', 'filter by version, such as 20261121.3')
    .option('--schedule <id>', 'filter by schedule ID (sched_…)')
    .option('--error <id>', 'filter by error group ID (error_…)')
    .option('--error-text <text>', 'filter by text in the error type or message')
    .option(
      '--metadata-value <path=value>',
      'filter by the value at a declared metadata path; repeatable',
      pathFilter,
    )
    .option(
      '--payload-value <path=value>',
      'filter by the value at a declared payload path; repeatable',
      pathFilter,
    )
    .option('--period <period>', `created within this period, such as 30m (default: ${defaultPeriod})`)
    .option('--from <date>', 'created at or after this date', instant)
    .option('--to <date>', 'created at or before this date', instant);

/** The filter of the options; undefined without any. */
export function selectedFilter(options: SelectionOptions): BulkRunsFilter | undefined {
  const { task, status, tag, queue, runVersion, schedule, error, errorText } = options;
  const { metadataValue: metadata, payloadValue: payload, period, from, to } = options;
  const filter: BulkRunsFilter = {
    ...(task !== undefined && { taskIdentifier: task }),
    ...(status !== undefined && { status }),
    ...(tag !== undefined && { tag }),
    ...(queue !== undefined && { queue: queueNamed(queue) }),
    ...(runVersion !== undefined && { version: runVersion }),
    ...(schedule !== undefined && { schedule }),
    ...(error !== undefined && { error }),
    ...(errorText !== undefined && { errorText }),
    ...(metadata && { metadata }),
    ...(payload && { payload }),
    ...(period !== undefined && { period }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  };
  return Object.keys(filter).length > 0 ? filter : undefined;
}
