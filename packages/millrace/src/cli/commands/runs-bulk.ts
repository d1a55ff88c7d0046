import { runStatuses, type RunStatus } from '@millrace/contract/plain';
import type { BulkAction, BulkRuns, BulkRunsFilter, runs as sdkRuns } from '@millrace/sdk';
import { Command, Option } from 'commander';
import { openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { instant, positiveInteger } from '../options.ts';
import { printJson, screenOn, table } from '../screen.ts';
import { waitsFor } from '../waiting.ts';
import { pathFilter, queueNamed, type PathFilter } from './runs-list.ts';

type Bulk = typeof sdkRuns.bulk;

export interface BulkOptions extends ConnectionOptions {
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
  readonly name?: string;
  readonly detach?: boolean;
  readonly json?: boolean;
}

/** The options that select runs and control the wait for the result. */
export const withBulkOptions = (command: Command): Command =>
  withConnectionOptions(
    command
      .option('--task <id>', 'all of one task')
      .addOption(new Option('--status <status>', 'all in one status').choices(runStatuses))
      .option('--tag <tag>', 'all with this tag')
      .option('--queue <name>', "all of one queue; task/<id> is a task's own")
      .option('--run-version <version>', 'all on this worker version, such as 20261121.3')
      .option('--schedule <id>', 'all of one schedule (sched_…)')
      .option('--error <id>', 'all that failed with this error group (error_…)')
      .option('--error-text <text>', 'all that failed with an error whose type or message has this text')
      .option(
        '--metadata-value <path=value>',
        'all with this value at a declared path; may be repeated',
        pathFilter,
      )
      .option('--payload-value <path=value>', 'the same of the payload', pathFilter)
      .option('--period <period>', 'created in the last, for instance 7d or 30m; 7d unless told otherwise')
      .option('--from <date>', 'created then or later', instant)
      .option('--to <date>', 'created then or earlier', instant)
      .option('--name <text>', 'what to call it, when it is about many')
      .option('--detach', 'do not wait until it is done')
      .option('--json', 'one line of JSON'),
  );

/** The single selected run, or the selection of many. */
export function bulkSelection(ids: readonly string[], options: BulkOptions): string | BulkRuns {
  const filter = filterOf(options);
  const name = options.name === undefined ? {} : { name: options.name };
  if (ids.length > 0 && filter) {
    throw new CommandFailed(exitCodes.usage, 'Name runs, or say which with options: not both.');
  }
  if (filter) return { filter, ...name };
  const [first, ...others] = ids;
  if (first === undefined) {
    throw new CommandFailed(
      exitCodes.usage,
      'Which runs? Name them (run_…), or say which, as in --task mail --status FAILED.',
    );
  }
  return others.length === 0 ? first : { runs: [...ids], ...name };
}

function filterOf(options: BulkOptions): BulkRunsFilter | undefined {
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

const sentenceOf = ({ counts, status }: BulkAction): string => {
  const { total, success, failure } = counts;
  const failed = failure > 0 ? `, ${failure} could not be` : '';
  const end = status === 'ABORTED' ? '; it was stopped' : '';
  return `${success} of ${total} done${failed}${end}`;
};

/** Shows the progress of a bulk action until it has ended. The action continues without an observer. */
export async function followBulk(
  bulk: Bulk,
  { id }: { readonly id: string },
  { detach, json }: Pick<BulkOptions, 'detach' | 'json'>,
): Promise<void> {
  const { line, paint } = screenOn(process.stdout);
  if (detach) return json ? printJson(await bulk.retrieve(id)) : line(id);
  if (!json)
    line(paint.dim(`${id}  goes on without this command; to stop it: millrace runs bulk abort ${id}`));
  waitsFor(`${id} to be done with all runs; \`millrace runs bulk show ${id}\` tells how it stands`);
  let lastSentence = '';
  const over = await bulk.poll(id, {
    pollIntervalMs: 300,
    onProgress(action) {
      const sentence = sentenceOf(action);
      if (!json && sentence !== lastSentence) line(sentence);
      lastSentence = sentence;
    },
  });
  if (json) printJson(over);
}

const listCommand = (): Command =>
  withConnectionOptions(
    new Command('list')
      .description('bulk actions, newest first')
      .option('--limit <count>', 'at most', positiveInteger, 25)
      .option('--json', 'a line of JSON for each'),
  ).action(async ({ limit, json, ...connection }: ConnectionOptions & { limit: number; json?: boolean }) => {
    const { runs } = await openClient(connection);
    const found: BulkAction[] = [];
    for await (const action of runs.bulk.list({ limit: Math.min(limit, 100) })) {
      found.push(action);
      if (found.length === limit) break;
    }
    if (json) return found.forEach(printJson);
    const { line, paint } = screenOn(process.stdout);
    if (found.length === 0) return line('No bulk actions.');
    const rows = found.map((action) => [
      action.id,
      action.type,
      action.status,
      sentenceOf(action),
      action.name ?? '',
    ]);
    const [head = '', ...body] = table([['id', 'type', 'status', 'progress', 'name'], ...rows]);
    line(paint.dim(head));
    for (const row of body) line(row);
  });

const withAction = (command: Command): Command =>
  withConnectionOptions(command.argument('<action>', 'its id (bulk_…)').option('--json', 'one line of JSON'));

const showCommand = (): Command =>
  withAction(new Command('show').description('how a bulk action stands')).action(
    async (id: string, options: BulkOptions) => {
      const { runs } = await openClient(options);
      const action = await runs.bulk.retrieve(id);
      if (options.json) printJson(action);
      else screenOn(process.stdout).line(`${action.status}  ${sentenceOf(action)}`);
    },
  );

const abortCommand = (): Command =>
  withAction(new Command('abort').description('stop a bulk action; what it has done stays done')).action(
    async (id: string, options: BulkOptions) => {
      const { runs } = await openClient(options);
      await runs.bulk.abort(id);
      const action = await runs.bulk.retrieve(id);
      if (options.json) printJson(action);
      else screenOn(process.stdout).line(`${action.status}  ${sentenceOf(action)}`);
    },
  );

export const bulkCommand = (): Command =>
  new Command('bulk')
    .description('actions on many runs, under way and over')
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(abortCommand());
