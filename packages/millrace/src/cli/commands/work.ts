import { Command, Option } from 'commander';
import {
  address,
  bytes,
  environment,
  grace,
  interval,
  label,
  listenAddress,
  positiveInteger,
} from '../options.ts';
import type { WorkOptions } from '../compose/work.ts';

export const workCommand = (): Command =>
  new Command('work')
    .description('a runner: it serves deployed versions, and the tasks of this folder if it is a project')
    .option('--env <environment>', 'refuse a key of another environment', environment)
    .addOption(new Option('--url <address>', 'the server').env('MILLRACE_API_URL').argParser(address))
    .addOption(new Option('--key <key>', "the environment's secret key").env('MILLRACE_SECRET_KEY'))
    .option(
      '--branch <name>',
      'the branch of preview that it works for; without one, a key of preview is for all branches',
    )
    .option('--dir <folder>', 'the project; default this folder, if it is one')
    .option(
      '--label <label>',
      'something that this machine has, for tasks with `requires`; repeatable',
      addLabel,
      [],
    )
    .addOption(
      new Option(
        '--cache <folder>',
        'where fetched versions are kept, for all runners of this machine; default millrace in the cache folder of the user',
      ).env('MILLRACE_CACHE'),
    )
    .addOption(
      new Option('--cache-size <size>', 'what the cache may hold, such as 500MiB')
        .env('MILLRACE_CACHE_SIZE')
        .default(2 * 1024 ** 3, '2GiB')
        .argParser(bytes),
    )
    .option('--concurrency <count>', 'attempts that execute at once', positiveInteger, 100)
    .addOption(
      new Option(
        '--grace <span>',
        'how long runs may take to finish when it is asked to stop; the rest is given back, two seconds later it is gone',
      )
        .env('MILLRACE_GRACE')
        .default(25_000, '25s')
        .argParser(grace),
    )
    .addOption(
      new Option('--health-port <[address:]port>', 'where to answer /healthz and /readyz; default nowhere')
        .env('MILLRACE_HEALTH_PORT')
        .argParser(listenAddress),
    )
    .addOption(
      new Option('--log-level <level>', 'of the lines on stderr (JSON where that is no terminal)')
        .env('MILLRACE_LOG_LEVEL')
        .choices(['debug', 'info', 'warn', 'error'])
        .default('info'),
    )
    .addOption(
      new Option('--run-as <user>', 'the user that tasks run as; the runner must be root').env(
        'MILLRACE_RUN_AS',
      ),
    )
    .addOption(
      new Option(
        '--variables-dir <folder>',
        'a folder in which each file is a variable of tasks, as Docker and Kubernetes mount secrets',
      ).env('MILLRACE_VARIABLES_DIR'),
    )
    .addOption(
      new Option(
        '--variables-command <command>',
        'a shell command that prints variables of tasks: a JSON object, or lines as in a dotenv file',
      ).env('MILLRACE_VARIABLES_COMMAND'),
    )
    .addOption(
      new Option(
        '--variables-hook <module>',
        'a module whose default export is a function that returns variables of tasks',
      ).env('MILLRACE_VARIABLES_HOOK'),
    )
    .addOption(
      new Option('--variables-refresh <span>', 'how often these are read again')
        .env('MILLRACE_VARIABLES_REFRESH')
        .default(60_000, '1m')
        .argParser(interval),
    )
    .option('--json', 'when ready, one line of JSON on stdout: runner, version of the folder')
    .action(async (options: WorkOptions) => {
      hideKey();
      const { work } = await import('../compose/work.ts');
      await work(options);
    });

const addLabel = (text: string, others: readonly string[]): string[] => [...others, label(text)];

/** The key is in `options` now. It need not be visible in process lists or to child processes. */
function hideKey(): void {
  delete process.env['MILLRACE_SECRET_KEY'];
  // This also replaces the arguments, on systems where a process can change them.
  process.title = 'millrace work';
}
