import {
  isUnreadable,
  runFilterParams,
  runFilterQuery,
  type RunFilterParams,
} from '@millrace/contract/filter';
import { runStatuses, type RunStatus, readableDuration } from '@millrace/contract/plain';
import { Command, InvalidArgumentError, Option } from 'commander';
import { openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { positiveInteger } from '../options.ts';
import { printJson, screenOn, table } from '../screen.ts';

interface ListOptions extends ConnectionOptions {
  readonly task?: string;
  readonly status?: RunStatus;
  readonly tag?: string;
  readonly queue?: string;
  readonly metadata?: PathFilter;
  readonly payload?: PathFilter;
  readonly error?: string;
  readonly period?: string;
  readonly limit: number;
  readonly count?: boolean;
  readonly json?: boolean;
}

/** `task/<id>` is the queue of a task. */
export const queueNamed = (name: string): { type: 'task' | 'custom'; name: string } =>
  name.startsWith('task/') ? { type: 'task', name: name.slice('task/'.length) } : { type: 'custom', name };

export type PathFilter = Readonly<Record<string, readonly string[]>>;

/** `customer.id=42`; if a path is repeated, any of its values may match. */
export function pathFilter(text: string, before: PathFilter = {}): PathFilter {
  const [, path = '', value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (path === '') throw new InvalidArgumentError('Must be a path and a value, such as customer.id=42.');
  return { ...before, [path]: [...(before[path] ?? []), value] };
}

/** The words of the dashboard's filter: `status:failed task:mail since:2h`. */
export function words(text: string): RunFilterParams {
  const read = runFilterQuery(text);
  if (isUnreadable(read)) throw new InvalidArgumentError(`${read.error}.`);
  return runFilterParams(read);
}

export const listCommand = (): Command =>
  withConnectionOptions(
    new Command('list')
      .description('list runs of the last 7 days, newest first')
      .argument('[filter]', 'filter as in the dashboard, such as "status:failed task:mail since:2h"', words)
      .option('--task <id>', 'filter by task ID')
      .addOption(new Option('--status <status>', 'filter by status').choices(runStatuses))
      .option('--tag <tag>', 'filter by tag')
      .option('--queue <name>', 'filter by queue name; task/<id> is the queue of a task')
      .option(
        '--metadata <path=value>',
        'filter by the value at a declared metadata path; repeatable',
        pathFilter,
      )
      .option(
        '--payload <path=value>',
        'filter by the value at a declared payload path; repeatable',
        pathFilter,
      )
      .option('--error <text>', 'filter by text in the error type or message')
      .option('--period <period>', 'created within this period, such as 30m (default: 7d)')
      .option('--limit <count>', 'maximum number of results', positiveInteger, 25)
      .option('--count', 'print only the number of runs, up to 10,000')
      .option('--json', 'print JSON, one object per line'),
  ).action(async (written: RunFilterParams | undefined, options: ListOptions) => {
    const { task, status, tag, queue, metadata, payload, error, period, limit, count, json, ...connection } =
      options;
    const { runs } = await openClient(connection);
    const filters = {
      ...written,
      ...(task !== undefined && { taskIdentifier: task }),
      ...(status !== undefined && { status }),
      ...(tag !== undefined && { tag }),
      ...(queue !== undefined && { queue: queueNamed(queue) }),
      ...(metadata && { metadata }),
      ...(payload && { payload }),
      ...(error !== undefined && { errorText: error }),
      ...(period !== undefined && { period }),
    };
    if (count) {
      const counted = await runs.count(filters);
      if (json) return printJson(counted);
      return screenOn(process.stdout).line(`${counted.count}${counted.isExact ? '' : '+'}`);
    }
    const found = [];
    for await (const run of runs.list({ ...filters, limit: Math.min(limit, 100) })) {
      found.push(run);
      if (found.length === limit) break;
    }
    if (json) return found.forEach(printJson);
    const { line, paint } = screenOn(process.stdout);
    if (found.length === 0) return line('No runs.');
    const rows = found.map((run) => [
      run.id,
      run.status,
      run.taskIdentifier,
      run.createdAt.toISOString(),
      readableDuration(run.durationMs),
      run.tags.join(', '),
    ]);
    const [head = '', ...body] = table([['id', 'status', 'task', 'created', 'took', 'tags'], ...rows]);
    line(paint.dim(head));
    for (const row of body) line(row);
  });
