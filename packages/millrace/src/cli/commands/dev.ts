import { Command } from 'commander';
import { environment, port } from '../options.ts';
import type { DevOptions } from '../compose/dev.ts';

export const devCommand = (): Command =>
  new Command('dev')
    .description('run a server, database and runner for local development')
    .option('--dir <folder>', 'project folder', '.')
    .option('--port <port>', 'port to listen on, 0 for any free port', port, 4400)
    .option('--data <folder>', 'data folder (default: .millrace/data in the project)')
    .option('--env <environment>', 'environment of the runs to execute', environment, 'dev')
    .option(
      '--json',
      'print one line of JSON when ready: url, projectRef, personalAccessToken, environments; log lines of runs go to stderr as JSON',
    )
    .option('-q, --quiet', 'print only versions and problems, without keys and task output')
    .option('--raw', 'keep escape sequences in task output; they can change the display of the terminal')
    .option('--verbose', 'print all logs of the server and the database to stderr')
    .action(async (options: DevOptions) => {
      const { dev } = await import('../compose/dev.ts');
      await dev(options);
    });
