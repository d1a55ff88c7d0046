import { runStatuses } from '@millrace/contract/plain';
import type { BulkAction, BulkRuns, runs as sdkRuns } from '@millrace/sdk';
import { Command } from 'commander';
import { openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { positiveInteger } from '../options.ts';
import { printJson, screenOn, table } from '../screen.ts';
import { waitsFor } from '../waiting.ts';
import { selectedFilter, withSelectionOptions, type SelectionOptions } from './runs-selection.ts';

type Bulk = typeof sdkRuns.bulk;

export interface BulkOptions extends ConnectionOptions, SelectionOptions {
  readonly name?: string;
  readonly detach?: boolean;
  readonly json?: boolean;
}

/** The options that select runs and control the wait for the result. */
export const withBulkOptions = (command: Command): Command =>
  withConnectionOptions(
    withSelectionOptions(command, { statuses: runStatuses, defaultPeriod: '7d' })
      .option('--name <text>', 'name of the bulk action')
      .option('--detach', 'do not wait for the bulk action to finish')
      .option('--json', 'print JSON'),
  );

/** The single selected run, or the selection of many. */
export function bulkSelection(ids: readonly string[], options: BulkOptions): string | BulkRuns {
  const filter = selectedFilter(options);
  const name = options.name === undefined ? {} : { name: options.name };
  if (ids.length > 0 && filter) {
    throw new CommandFailed(exitCodes.usage, 'Pass run IDs or filters, not both.');
  }
  if (filter) return { filter, ...name };
  const [first, ...others] = ids;
  if (first === undefined) {
    throw new CommandFailed(
      exitCodes.usage,
      'No runs selected. Pass run IDs (run_…) or filters, such as --task mail --status FAILED.',
    );
  }
  return others.length === 0 ? first : { runs: [...ids], ...name };
}

const sentenceOf = ({ counts, status }: BulkAction): string => {
  const { total, success, failure } = counts;
  const failed = failure > 0 ? `, ${failure} failed` : '';
  const end = status === 'ABORTED' ? '; it was stopped' : '';
  return `${success} of ${total} done${failed}${end}`;
};

/** Shows the progress of a bulk action until it has ended. The action continues if nothing observes it. */
export async function followBulk(
  bulk: Bulk,
  { id }: { readonly id: string },
  { detach, json }: Pick<BulkOptions, 'detach' | 'json'>,
): Promise<void> {
  const { line, paint } = screenOn(process.stdout);
  if (detach) return json ? printJson(await bulk.retrieve(id)) : line(id);
  if (!json)
    line(paint.dim(`${id}  continues without this command. To stop it: millrace runs bulk abort ${id}`));
  waitsFor(`${id} to finish; \`millrace runs bulk show ${id}\` shows its progress`);
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
      .description('list bulk actions, newest first')
      .option('--limit <count>', 'maximum number of results', positiveInteger, 25)
      .option('--json', 'print JSON, one object per line'),
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
  withConnectionOptions(
    command.argument('<action>', 'bulk action ID (bulk_…)').option('--json', 'print JSON'),
  );

const showCommand = (): Command =>
  withAction(new Command('show').description('show the progress of a bulk action')).action(
    async (id: string, options: BulkOptions) => {
      const { runs } = await openClient(options);
      const action = await runs.bulk.retrieve(id);
      if (options.json) printJson(action);
      else screenOn(process.stdout).line(`${action.status}  ${sentenceOf(action)}`);
    },
  );

const abortCommand = (): Command =>
  withAction(new Command('abort').description('stop a bulk action; completed changes are not undone')).action(
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
    .description('manage bulk cancellations and replays')
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(abortCommand());
