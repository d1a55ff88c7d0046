import { Command } from 'commander';
import { findServer, openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { followRun } from '../follow-run.ts';
import { wholeNumber } from '../options.ts';
import { linePrinter } from '../print-line.ts';
import { opened, withCodecOption, type CodecOptions } from '../project-codec.ts';
import { printRun } from '../print-run.ts';
import { printSource } from '../print-source.ts';
import { printSteps } from '../print-steps.ts';
import { printTimeline } from '../print-timeline.ts';
import { printJson, screenOn } from '../screen.ts';
import { bulkCommand } from './runs-bulk.ts';
import { cancelCommand, replayCommand } from './runs-change.ts';
import { listCommand } from './runs-list.ts';
import { pathsCommand } from './runs-paths.ts';

interface ShowOptions extends ConnectionOptions, CodecOptions {
  readonly wait?: boolean;
  readonly timeline?: boolean;
  readonly depth?: number;
  readonly lines?: number;
  readonly after?: string;
  readonly json?: boolean;
}

const showCommand = (): Command =>
  withCodecOption(
    withConnectionOptions(
      new Command('show')
        .description('a run: status, attempts, steps, output or error; or what happened in it and below it')
        .argument('<run>', 'its id (run_…)')
        .option('--wait', 'wait until it is over; exit code 1 when it did not complete')
        .option(
          '--timeline',
          'what happened, as a tree on one clock: waits, attempts, child runs, spans, lines',
        )
        .option('--depth <levels>', 'with --timeline: levels of child runs, 0 to 5 (default 2)', wholeNumber)
        .option(
          '--lines <count>',
          'with --timeline: log lines of the run, 0 to 500 (default 50)',
          wholeNumber,
        )
        .option('--after <run>', 'with --timeline: child runs after this one, where there are many')
        .option('--json', 'one line of JSON; with --wait the last of several'),
    ),
  ).action(async (id: string, options: ShowOptions) => {
    const { runs, deployments } = await openClient(options);
    const ofTimeline = (['depth', 'lines', 'after'] as const).find((name) => options[name] !== undefined);
    if (ofTimeline !== undefined && !options.timeline)
      throw new CommandFailed(exitCodes.usage, `--${ofTimeline} is for --timeline: add that.`);
    const orMissing = async (error: unknown): Promise<never> => {
      if ((error as { code?: unknown }).code !== 'run_not_found') throw error;
      const { url } = await findServer(options);
      throw new CommandFailed(
        exitCodes.failed,
        `404 There is no run ${id} in the environment of this key at ${url}.`,
      );
    };
    const found = options.wait ? followRun(runs, id, options) : runs.retrieve(id);
    const run = await opened(options, await found.catch(orMissing));
    if (options.timeline) {
      const { depth, lines: logs, after } = options;
      const response = await runs.timeline(id, {
        ...(depth !== undefined && { depth }),
        ...(logs !== undefined && { logs }),
        ...(after !== undefined && { after }),
      });
      const timeline = await opened(options, response);
      if (options.json) printJson(timeline);
      else printTimeline(timeline, screenOn(process.stdout), process.stdout.columns);
    } else {
      const pages = await Promise.all([runs.attempts(id), runs.steps(id)]);
      const attempts = await opened(options, pages[0].data);
      const steps = await opened(options, pages[1].data);
      if (options.json) printJson({ ...run, attempts, ...(steps.length > 0 && { steps }) });
      else {
        const screen = screenOn(process.stdout);
        printRun(run, attempts, screen);
        if (steps.length > 0) printSteps(steps, screen);
        await printSource(deployments, run, screen);
      }
    }
    if (options.wait && !run.isSuccess) process.exitCode = exitCodes.failed;
  });

const watchCommand = (): Command =>
  withCodecOption(
    withConnectionOptions(
      new Command('watch')
        .description(
          'a run until it is over: what it writes, then its outcome; exit code 1 when it did not complete',
        )
        .argument('<run>', 'its id (run_…)')
        .option('--json', 'a line of JSON for each line, and for the run'),
    ),
  ).action(async (id: string, options: ConnectionOptions & CodecOptions & { json?: boolean }) => {
    const { runs } = await openClient(options);
    const print = linePrinter(options);
    for await (const line of runs.followLogs(id)) print(await opened(options, line));
    const run = await opened(options, await runs.retrieve(id));
    const attempts = await opened(options, (await runs.attempts(id)).data);
    if (options.json) printJson({ ...run, attempts });
    else printRun(run, attempts, screenOn(process.stdout));
    if (!run.isSuccess) process.exitCode = exitCodes.failed;
  });

export const runsCommand = (): Command =>
  new Command('runs')
    .description('find runs, look at them, end or repeat them')
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(watchCommand())
    .addCommand(cancelCommand())
    .addCommand(replayCommand())
    .addCommand(bulkCommand())
    .addCommand(pathsCommand());
