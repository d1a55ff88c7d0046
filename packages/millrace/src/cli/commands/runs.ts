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
import { archiveCommand } from './runs-archive.ts';
import { bulkCommand } from './runs-bulk.ts';
import { eraseCommand } from './runs-erase.ts';
import { erasuresCommand } from './runs-erasures.ts';
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
        .description('show the status, attempts, steps and result of a run')
        .argument('<run>', 'run ID (run_…)')
        .option('--wait', 'wait for the run to end; exit code 1 if it did not complete')
        .option('--timeline', 'show the timeline as a tree: waits, attempts, child runs, spans, log lines')
        .option('--depth <levels>', 'with --timeline: levels of child runs, 0 to 5 (default: 2)', wholeNumber)
        .option(
          '--lines <count>',
          'with --timeline: number of log lines, 0 to 500 (default: 50)',
          wholeNumber,
        )
        .option('--after <run>', 'with --timeline: show the child runs after this one, for paging')
        .option('--json', 'print JSON; with --wait, one object per line, ending with the run'),
    ),
  ).action(async (id: string, options: ShowOptions) => {
    const { runs, deployments } = await openClient(options);
    const ofTimeline = (['depth', 'lines', 'after'] as const).find((name) => options[name] !== undefined);
    if (ofTimeline !== undefined && !options.timeline)
      throw new CommandFailed(exitCodes.usage, `--${ofTimeline} requires --timeline.`);
    const orMissing = async (error: unknown): Promise<never> => {
      if ((error as { code?: unknown }).code !== 'run_not_found') throw error;
      const { url } = await findServer(options);
      throw new CommandFailed(exitCodes.failed, `404 No run ${id} in the environment of this key at ${url}.`);
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
        .description('follow the logs of a run until it ends')
        .argument('<run>', 'run ID (run_…)')
        .option('--json', 'print JSON, one object per line, ending with the run')
        .addHelpText('after', '\nThen shows the run. Exit code 1 if it did not complete.'),
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
    .description('list, show, cancel, replay, erase and archive runs')
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(watchCommand())
    .addCommand(cancelCommand())
    .addCommand(replayCommand())
    .addCommand(eraseCommand())
    .addCommand(erasuresCommand())
    .addCommand(archiveCommand())
    .addCommand(bulkCommand())
    .addCommand(pathsCommand());
