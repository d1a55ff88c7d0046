import type * as Sdk from '@millrace/sdk';
import { Command, Option } from 'commander';
import { openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { drained } from '../drain.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { positiveInteger } from '../options.ts';
import { opened, withCodecOption, type CodecOptions } from '../project-codec.ts';
import { linePrinter } from '../print-line.ts';
import { printJson, screenOn } from '../screen.ts';
import { waitsFor } from '../waiting.ts';

const levels = ['debug', 'info', 'log', 'warn', 'error'] as const;

interface LogsOptions extends ConnectionOptions, CodecOptions {
  readonly follow?: boolean;
  readonly task?: string;
  readonly level?: (typeof levels)[number];
  readonly text?: string;
  readonly property?: string;
  readonly since?: string;
  readonly limit?: number;
  readonly raw?: boolean;
  readonly json?: boolean;
}

export const logsCommand = (): Command =>
  withCodecOption(
    withConnectionOptions(
      new Command('logs')
        .description('show or follow the log lines of one run or of all runs')
        .argument('[run]', 'run ID (run_…); all runs if omitted')
        .option('--follow', 'follow new lines; with a run ID, until the run ends')
        .option('--task <id>', 'filter by task ID')
        .addOption(new Option('--level <level>', 'filter by level').choices(levels))
        .option('--text <text>', 'filter by text in the message or the properties')
        .option('--property <path=value>', 'filter by property, such as customer.id=42')
        .option('--since <period>', 'written within this period, such as 1h or 7d')
        .option(
          '--limit <count>',
          'maximum number of stored lines (default: 1,000 without a run ID)',
          positiveInteger,
        )
        .option(
          '--raw',
          'print only the messages and keep their escape sequences, which can change the display of the terminal',
        )
        .option('--json', 'print JSON, one object per line'),
    ),
  ).action(async (id: string | undefined, options: LogsOptions) => {
    const sdk = await openClient(options);
    await (id === undefined ? showAll(sdk, options) : showRun(sdk, id, options));
  });

async function showRun({ runs }: typeof Sdk, id: string, options: LogsOptions): Promise<void> {
  const { follow, task, since, limit = Number.POSITIVE_INFINITY, level, text, property } = options;
  if (task !== undefined || since !== undefined) {
    throw new CommandFailed(exitCodes.usage, '--task and --since apply to all runs. Omit the run ID.');
  }
  const print = linePrinter(options);
  const filter = withoutUndefined({ level, text, property });
  const lines =
    follow === true
      ? runs.followLogs(id, { ...filter, signal: whileFollowed(follow) })
      : runs.logs(id, { ...filter, limit: 1_000 });
  let count = 0;
  for await (const line of lines) {
    print(await opened(options, line));
    count += 1;
    if (count >= limit) break;
  }
}

async function showAll({ logs }: typeof Sdk, options: LogsOptions): Promise<void> {
  const { follow, task, level, text, property, since, limit = 1_000, json } = options;
  const print = linePrinter({ ...options, of: true });
  const filter = withoutUndefined({ task, level, text, property });
  // Following starts before the stored lines are read, so that no line is missed in between.
  const coming = follow === true ? startFollowing(logs, filter, json) : undefined;
  const stored: Sdk.FoundLog[] = [];
  if (follow !== true || since !== undefined) {
    const search = {
      ...filter,
      ...(since !== undefined && { period: since }),
      limit: Math.min(limit, 1_000),
    };
    for await (const line of logs.search(search)) {
      stored.push(line);
      if (stored.length === limit) break;
    }
  }
  for (const line of stored.toReversed()) print(await opened(options, line));
  if (!coming) return;
  const last = stored[0]?.id ?? 0;
  waitsFor();
  for await (const line of coming) if (line.id > last) print(await opened(options, line));
}

type Filter = Sdk.LogFilter;

/** Drops undefined members. */
const withoutUndefined = (filter: { readonly [K in keyof Filter]: Filter[K] | undefined }): Filter =>
  Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));

function startFollowing(
  logs: (typeof Sdk)['logs'],
  filter: Filter,
  json: boolean | undefined,
): AsyncGenerator<Sdk.FoundLog, void, undefined> {
  const { line, paint } = screenOn(process.stderr);
  const onGap = (): void =>
    json
      ? printJson({ type: 'gap' })
      : line(paint.yellow('Lines are missing here: they arrived faster than they were read.'));
  const followed = logs.follow({ ...filter, onGap, signal: whileFollowed(true) });
  const first = followed.next();
  return (async function* all() {
    for (let next = await first; next.done !== true; next = await followed.next()) yield next.value;
  })();
}

/** Aborted by Ctrl-C, which stops following. */
function whileFollowed(follow: boolean | undefined): AbortSignal {
  const ended = new AbortController();
  if (follow === true) {
    process.once('SIGINT', () => {
      ended.abort();
      void drained().then(() => process.exit(exitCodes.ok));
    });
  }
  return ended.signal;
}
