import { Command, Option } from 'commander';
import { address, environment, positiveInteger } from '../options.ts';
import type { WorkOptions } from '../compose/work.ts';

export const workCommand = (): Command =>
  new Command('work')
    .description('a runner that serves the tasks of this folder')
    .option('--env <environment>', 'the environment it works for; checked against the key', environment)
    .addOption(new Option('--url <address>', 'the server').env('MILLRACE_API_URL').argParser(address))
    .addOption(new Option('--key <key>', "the environment's secret key").env('MILLRACE_SECRET_KEY'))
    .option('--dir <folder>', 'the project', '.')
    .option('--concurrency <count>', 'attempts that execute at once', positiveInteger, 100)
    .option('--json', 'when ready, one line of JSON on stdout: runner, version')
    .action(async (options: WorkOptions) => {
      const { work } = await import('../compose/work.ts');
      await work(options);
    });
