import { Command } from 'commander';
import { environment, port } from '../options.ts';
import type { DevOptions } from '../compose/dev.ts';

export const devCommand = (): Command =>
  new Command('dev')
    .description('database, server, watcher and runner in one, for the project in this folder')
    .option('--dir <folder>', 'the project', '.')
    .option('--port <port>', '0 = any', port, 4400)
    .option('--data <folder>', 'where the data is kept (default: .millrace/data of the project)')
    .option('--env <environment>', 'whose runs it executes', environment, 'dev')
    .option(
      '--json',
      'when ready, one line of JSON on stdout: url, projectRef, personalAccessToken, environments; lines of runs are JSON on stderr',
    )
    .option('-q, --quiet', 'no keys and no output of tasks, only versions and problems')
    .option('--raw', 'output of tasks with its escape sequences; they may change what the terminal shows')
    .option('--verbose', 'every line that server and database log, on stderr')
    .action(async (options: DevOptions) => {
      const { dev } = await import('../compose/dev.ts');
      await dev(options);
    });
