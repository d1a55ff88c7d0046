import {
  errorSorts,
  errorStatuses,
  parsePeriodMs,
  type ErrorSort,
  type ErrorStatus,
} from '@millrace/contract/plain';
import type { ErrorOwnership } from '@millrace/contract';
import type { ErrorVersions, Run, runs as sdkRuns } from '@millrace/sdk';
import { Command, InvalidArgumentError, Option } from 'commander';
import { openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { positiveInteger } from '../options.ts';
import { printSource } from '../print-source.ts';
import { printTable } from '../print-table.ts';
import { printJson, screenOn, table, type Screen } from '../screen.ts';
import { ownerCommands } from './error-owners.ts';
import { rulesCommand } from './error-rules.ts';

interface JsonOption extends ConnectionOptions {
  readonly json?: boolean;
}

interface ListOptions extends JsonOption {
  readonly task?: string;
  readonly status?: ErrorStatus;
  readonly search?: string;
  readonly owner?: string;
  readonly period?: string;
  readonly sort?: ErrorSort;
  readonly limit: number;
}

const listCommand = (): Command =>
  withConnectionOptions(
    new Command('list')
      .description('list error groups, last seen first')
      .option('--task <id>', 'filter by task ID')
      .addOption(new Option('--status <status>', 'filter by status').choices(errorStatuses))
      .option('--search <text>', 'filter by text in the error type or message')
      .option('--owner <owners>', 'filter by owners or addresses of members, separated by commas')
      .option('--period <period>', 'seen within this period, such as 7d or 30m')
      .addOption(new Option('--sort <order>', 'sort order').choices(errorSorts))
      .option('--limit <count>', 'maximum number of results', positiveInteger, 25)
      .option('--json', 'print JSON, one object per line'),
  ).action(async ({ task, status, search, owner, period, sort, limit, json, ...connection }: ListOptions) => {
    const { errors } = await openClient(connection);
    const groups = [];
    const filters = {
      taskIdentifier: task,
      status,
      search,
      owner,
      period,
      sort,
      limit: Math.min(limit, 100),
    };
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
      ownerOf(group) ?? '-',
      `${group.errorType}: ${group.sampleMessage ?? group.errorMessage}`,
    ]);
    const [head = '', ...body] = table([['id', 'count', 'status', 'task', 'owner', 'error'], ...rows]);
    line(paint.dim(head));
    for (const row of body) line(row);
  });

interface Group {
  readonly ownership: Partial<Omit<ErrorOwnership, 'owner' | 'userId'>> &
    Pick<ErrorOwnership, 'owner' | 'userId'>;
  readonly id: string;
  readonly errorType: string;
  readonly errorMessage: string;
  readonly sampleMessage?: string | undefined;
  readonly taskIdentifier: string;
  readonly status: ErrorStatus;
  readonly count: number;
  readonly firstSeen: Date;
  readonly lastSeen: Date;
  readonly affectedVersions: readonly string[];
  readonly resolvedAt: Date | null;
}

/** Such as `20261121.3, after 20261121.2`. */
const introducedText = ({ introducedIn }: ErrorVersions): string => {
  if (!introducedIn) return 'unknown';
  const { version, previous } = introducedIn;
  return previous === null ? version : `${version}, after ${previous}`;
};

/** The name of the responsible owner; the id of a member without an address. */
const ownerOf = ({ ownership }: Pick<Group, 'ownership'>): string | null =>
  ownership.owner ?? ownership.userId;

const ownerText = (group: Group): string =>
  `${ownerOf(group) ?? 'none'}${group.ownership.source === 'task' ? ' (owner of the task)' : ''}`;

function printGroup(group: Group, { line, paint }: Screen, versions?: ErrorVersions): void {
  const { errorType, errorMessage, sampleMessage = errorMessage } = group;
  line(paint.bold(`${errorType}: ${sampleMessage}`));
  const properties = [
    ...(sampleMessage === errorMessage ? [] : [['pattern', errorMessage]]),
    ['id', group.id],
    ['task', group.taskIdentifier],
    ['status', group.status],
    ['count', String(group.count)],
    ['first seen', group.firstSeen.toISOString()],
    ['last seen', group.lastSeen.toISOString()],
    ...(versions ? [['introduced in', introducedText(versions)]] : []),
    [
      'versions',
      versions?.data.map(({ version, count }) => `${version} (${count})`).join(', ') ||
        group.affectedVersions.join(', ') ||
        'none',
    ],
    ...(group.resolvedAt ? [['resolved', group.resolvedAt.toISOString()]] : []),
    ['owner', ownerText(group)],
    ...(group.ownership.ticketUrl ? [['ticket', group.ownership.ticketUrl]] : []),
    ...(group.ownership.note ? [['note', group.ownership.note]] : []),
  ];
  for (const row of table(properties)) line(row);
}

const show = (group: Group, { json }: JsonOption): void =>
  json ? printJson(group) : printGroup(group, screenOn(process.stdout));

/** The latest run that failed with an error. Undefined if the key may not read it; the group is shown anyway. */
async function latestRun(runs: typeof sdkRuns, error: string): Promise<Run | undefined> {
  try {
    const { data } = await runs.list({ error, period: '365d', limit: 1 });
    return data[0] && (await runs.retrieve(data[0].id));
  } catch {
    return undefined;
  }
}

const showCommand = (): Command =>
  withConnectionOptions(
    new Command('show')
      .description('show an error group')
      .argument('<error>', 'error group ID (error_…)')
      .option('--json', 'print JSON'),
  ).action(async (id: string, options: JsonOption) => {
    const { errors, runs, deployments } = await openClient(options);
    const [group, fingerprints, versions] = await Promise.all([
      errors.retrieve(id),
      errors.fingerprints(id),
      errors.versions(id),
    ]);
    if (options.json) return printJson({ ...group, fingerprints, versions });
    const screen = screenOn(process.stdout);
    printGroup(group, screen, versions);
    await printSource(deployments, await latestRun(runs, group.id), screen);
    if (fingerprints.length === 1) return;
    screen.line('');
    const rows = fingerprints.map((entry) => [
      entry.fingerprint,
      String(entry.count),
      `${entry.errorType}: ${entry.errorMessage}`,
    ]);
    const [head = '', ...body] = table([['fingerprint', 'count', 'error'], ...rows]);
    screen.line(screen.paint.dim(head));
    for (const row of body) screen.line(row);
  });

const resolveCommand = (): Command =>
  withConnectionOptions(
    new Command('resolve')
      .description('resolve an error group; it reopens if the error occurs again')
      .argument('<error>', 'error group ID (error_…)')
      .option('--in-version <version>', 'version that contains the fix')
      .option('--json', 'print JSON'),
  ).action(async (id: string, options: JsonOption & { inVersion?: string }) => {
    const { errors } = await openClient(options);
    show(await errors.resolve(id, { resolvedInVersion: options.inVersion }), options);
  });

interface IgnoreOptions extends JsonOption {
  readonly for?: number;
  readonly rate?: number;
  readonly count?: number;
  readonly reason?: string;
}

/** `90s`, `1h` or `7d` in milliseconds. */
function span(text: string): number {
  const ms = parsePeriodMs(text);
  if (ms !== undefined) return ms;
  throw new InvalidArgumentError('Must be a number and a unit (s, m, h, d, w), such as 7d.');
}

function rate(text: string): number {
  const number = Number(text);
  if (text.trim() !== '' && Number.isFinite(number) && number > 0) return number;
  throw new InvalidArgumentError('Must be a number greater than 0, such as 0.5.');
}

const ignoreCommand = (): Command =>
  withConnectionOptions(
    new Command('ignore')
      .description('ignore an error group permanently, or until a limit is reached')
      .argument('<error>', 'error group ID (error_…)')
      .option('--for <duration>', 'ignore for this long, such as 7d', span)
      .option('--rate <count>', 'ignore up to this many occurrences per minute', rate)
      .option('--count <count>', 'ignore this many further occurrences', positiveInteger)
      .option('--reason <text>', 'reason, shown in the history')
      .option('--json', 'print JSON'),
  ).action(async (id: string, options: IgnoreOptions) => {
    const { errors } = await openClient(options);
    const { for: duration, rate: occurrenceRate, count: totalOccurrences, reason } = options;
    show(await errors.ignore(id, { duration, occurrenceRate, totalOccurrences, reason }), options);
  });

const unresolveCommand = (): Command =>
  withConnectionOptions(
    new Command('unresolve')
      .description('reopen a resolved or ignored error group')
      .argument('<error>', 'error group ID (error_…)')
      .option('--json', 'print JSON'),
  ).action(async (id: string, options: JsonOption) => {
    const { errors } = await openClient(options);
    show(await errors.unresolve(id), options);
  });

const mergeCommand = (): Command =>
  withConnectionOptions(
    new Command('merge')
      .description('merge error groups of the same task into one')
      .argument('<error>', 'ID of the error group to keep')
      .argument('<others...>', 'IDs of the error groups to merge into it; they redirect to it')
      .option('--json', 'print JSON'),
  ).action(async (id: string, others: string[], options: JsonOption) => {
    const { errors } = await openClient(options);
    show(await errors.merge(id, others), options);
  });

const splitCommand = (): Command =>
  withConnectionOptions(
    new Command('split')
      .description('move fingerprints of an error group into a new group')
      .argument('<error>', 'error group ID (error_…)')
      .argument(
        '<fingerprints...>',
        'fingerprints from `errors show`; the first one of a group cannot be moved',
      )
      .option('--json', 'print JSON'),
  ).action(async (id: string, fingerprints: string[], options: JsonOption) => {
    const { errors } = await openClient(options);
    show(await errors.split(id, fingerprints), options);
  });

const historyCommand = (): Command =>
  withConnectionOptions(
    new Command('history')
      .description('list status changes, newest first')
      .argument('<error>', 'error group ID (error_…)')
      .option('--limit <count>', 'maximum number of results', positiveInteger, 25)
      .option('--json', 'print JSON, one object per line'),
  ).action(async (id: string, { limit, json, ...connection }: JsonOption & { limit: number }) => {
    const { errors } = await openClient(connection);
    const changes = [];
    for await (const change of errors.history(id, { limit: Math.min(limit, 100) })) {
      changes.push(change);
      if (changes.length === limit) break;
    }
    if (json) return changes.forEach(printJson);
    printTable(
      ['at', 'what', 'by', 'before'],
      changes.map(({ at, act, userId, credentialId, before }) => [
        at.toISOString(),
        act,
        userId ?? credentialId ?? 'itself',
        before.resolvedInVersion === undefined
          ? before.status
          : `${before.status} in ${before.resolvedInVersion}`,
      ]),
    );
  });

export function errorsCommand(): Command {
  const command = new Command('errors')
    .description('manage error groups: failed runs, grouped by cause')
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(historyCommand())
    .addCommand(resolveCommand())
    .addCommand(ignoreCommand())
    .addCommand(unresolveCommand());
  const print = (group: Group): void => printGroup(group, screenOn(process.stdout));
  for (const change of ownerCommands(print)) command.addCommand(change);
  return command.addCommand(mergeCommand()).addCommand(splitCommand()).addCommand(rulesCommand());
}
