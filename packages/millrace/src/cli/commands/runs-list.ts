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
  if (path === '') throw new InvalidArgumentError('It is a path and a value, such as customer.id=42.');
  return { ...before, [path]: [...(before[path] ?? []), value] };
}

/** The words of the dashboard's filter: `status:failed task:mail since:2h`. */
function words(text: string): RunFilterParams {
  const read = runFilterQuery(text);
  if (isUnreadable(read)) throw new InvalidArgumentError(`${read.error}.`);
  return runFilterParams(read);
}

export const listCommand = (): Command =>
  withConnectionOptions(
    new Command('list')
      .description('runs, newest first; of the last seven days unless told otherwise')
      .argument('[filter]', 'words such as "status:failed task:mail since:2h", as in the dashboard', words)
      .option('--task <id>', 'of one task')
      .addOption(new Option('--status <status>', 'in one status').choices(runStatuses))
      .option('--tag <tag>', 'with this tag')
      .option('--queue <name>', "of one queue; task/<id> is a task's own")
      .option('--metadata <path=value>', 'with this value at a declared path; may be repeated', pathFilter)
      .option('--payload <path=value>', 'the same of the payload', pathFilter)
      .option('--error <text>', 'failed with an error whose type or message has this text')
      .option('--period <period>', 'created in the last, for instance 7d or 30m')
      .option('--limit <count>', 'at most', positiveInteger, 25)
      .option('--count', 'only how many there are, up to 10,000')
      .option('--json', 'a line of JSON for each run, or the count as one'),
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
