import { Command } from 'commander';
import { openClient, withConnectionOptions, type ConnectionOptions } from '../connection.ts';
import { printRun } from '../print-run.ts';
import { printJson, screenOn } from '../screen.ts';

const showCommand = (): Command =>
  withConnectionOptions(
    new Command('show')
      .description('a run: status, attempts, output or error')
      .argument('<run>', 'its id (run_…)')
      .option('--json', 'one line of JSON'),
  ).action(async (id: string, options: ConnectionOptions & { json?: boolean }) => {
    const { runs } = await openClient(options);
    const run = await runs.retrieve(id);
    if (options.json) printJson(run);
    else printRun(run, screenOn(process.stdout));
  });

export const runsCommand = (): Command =>
  new Command('runs').description('look at runs').addCommand(showCommand());
