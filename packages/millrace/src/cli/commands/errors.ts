import { errorStatuses, type ErrorStatus } from '@millrace/contract';
import { Command, Option } from 'commander';
import { openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { positiveInteger } from '../options.ts';
import { printJson, screenOn, table, type Screen } from '../screen.ts';

interface JsonOption extends ConnectionOptions {
  readonly json?: boolean;
}

interface ListOptions extends JsonOption {
  readonly task?: string;
  readonly status?: ErrorStatus;
  readonly search?: string;
  readonly period?: string;
  readonly limit: number;
}

const listCommand = (): Command =>
  withConnectionOptions(
    new Command('list')
      .description('error groups, last seen first')
      .option('--task <id>', 'of one task')
      .addOption(new Option('--status <status>', 'in one state').choices(errorStatuses))
      .option('--search <text>', 'with this in type or message')
      .option('--period <period>', 'seen in the last, for instance 7d or 30m')
      .option('--limit <count>', 'at most', positiveInteger, 25)
      .option('--json', 'a line of JSON for each group'),
  ).action(async ({ task, status, search, period, limit, json, ...connection }: ListOptions) => {
    const { errors } = await openClient(connection);
    const groups = [];
    const filters = { taskIdentifier: task, status, search, period, limit: Math.min(limit, 100) };
    for await (const group of errors.list(filters)) {
      groups.push(group);
      if (groups.length === limit) break;
    }
    if (json) return groups.forEach(printJson);
    const { line, paint } = screenOn(process.stdout);
    if (groups.length === 0) return line('No error groups.');
    const rows = groups.map((group) => [
      group.id,
      String(group.count),
      group.status,
      group.taskIdentifier,
      `${group.errorType}: ${group.errorMessage}`,
    ]);
    const [head = '', ...body] = table([['id', 'count', 'status', 'task', 'error'], ...rows]);
    line(paint.dim(head));
    for (const row of body) line(row);
  });

interface Group {
  readonly id: string;
  readonly errorType: string;
  readonly errorMessage: string;
  readonly taskIdentifier: string;
  readonly status: ErrorStatus;
  readonly count: number;
  readonly firstSeen: Date;
  readonly lastSeen: Date;
  readonly affectedVersions: readonly string[];
  readonly resolvedAt: Date | null;
}

function printGroup(group: Group, { line, paint }: Screen): void {
  line(paint.bold(`${group.errorType}: ${group.errorMessage}`));
  const facts = [
    ['id', group.id],
    ['task', group.taskIdentifier],
    ['status', group.status],
    ['count', String(group.count)],
    ['first seen', group.firstSeen.toISOString()],
    ['last seen', group.lastSeen.toISOString()],
    ['versions', group.affectedVersions.join(', ') || 'none'],
    ...(group.resolvedAt ? [['resolved', group.resolvedAt.toISOString()]] : []),
  ];
  for (const row of table(facts)) line(row);
}

const showCommand = (): Command =>
  withConnectionOptions(
    new Command('show')
      .description('one error group')
      .argument('<error>', 'its id (error_…)')
      .option('--json', 'one line of JSON'),
  ).action(async (id: string, options: JsonOption) => {
    const { errors } = await openClient(options);
    const group = await errors.retrieve(id);
    if (options.json) printJson(group);
    else printGroup(group, screenOn(process.stdout));
  });

const resolveCommand = (): Command =>
  withConnectionOptions(
    new Command('resolve')
      .description('mark an error group as resolved; it reopens when the error comes back')
      .argument('<error>', 'its id (error_…)')
      .option('--in-version <version>', 'the worker version that has the fix')
      .option('--json', 'one line of JSON: the group'),
  ).action(async (id: string, options: JsonOption & { inVersion?: string }) => {
    const { errors } = await openClient(options);
    const group = await errors.resolve(id, { resolvedInVersion: options.inVersion });
    if (options.json) printJson(group);
    else printGroup(group, screenOn(process.stdout));
  });

export const errorsCommand = (): Command =>
  new Command('errors')
    .description('failed runs, grouped by what went wrong')
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(resolveCommand());
