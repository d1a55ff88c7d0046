import { Command } from 'commander';
import { findServer, openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { followRun } from '../follow-run.ts';
import { printRun } from '../print-run.ts';
import { printJson, screenOn } from '../screen.ts';
import { bulkCommand } from './runs-bulk.ts';
import { cancelCommand, replayCommand } from './runs-change.ts';
import { listCommand } from './runs-list.ts';
import { pathsCommand } from './runs-paths.ts';

const showCommand = (): Command =>
  withConnectionOptions(
    new Command('show')
      .description('a run: status, attempts, output or error')
      .argument('<run>', 'its id (run_…)')
      .option('--wait', 'wait until it is over; exit code 1 when it did not complete')
      .option('--json', 'one line of JSON; with --wait the last of several'),
  ).action(async (id: string, options: ConnectionOptions & { wait?: boolean; json?: boolean }) => {
    const { runs } = await openClient(options);
    const found = options.wait ? followRun(runs, id, options) : runs.retrieve(id);
    const run = await found.catch(async (error: unknown) => {
      if ((error as { status?: unknown }).status !== 404) throw error;
      const { url } = await findServer(options);
      throw new CommandFailed(
        exitCodes.failed,
        `404 There is no run ${id} in the environment of this key at ${url}.`,
      );
    });
    if (options.json) printJson(run);
    else printRun(run, screenOn(process.stdout));
    if (options.wait && !run.isSuccess) process.exitCode = exitCodes.failed;
  });

export const runsCommand = (): Command =>
  new Command('runs')
    .description('find runs, look at them, end or repeat them')
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(cancelCommand())
    .addCommand(replayCommand())
    .addCommand(bulkCommand())
    .addCommand(pathsCommand());
