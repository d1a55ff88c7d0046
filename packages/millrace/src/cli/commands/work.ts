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
    .description('run deployed versions and the tasks of a folder')
    .option('--env <environment>', 'fail unless the key belongs to this environment', environment)
    .addOption(new Option('--url <url>', 'URL of the server').env('MILLRACE_API_URL').argParser(address))
    .addOption(new Option('--key <key>', 'secret key of the environment').env('MILLRACE_SECRET_KEY'))
    .option('--branch <name>', 'preview branch to serve (default: all branches)')
    .option('--dir <folder>', 'project folder (default: this folder, if it is a project)')
    .option('--label <label>', 'label of this machine, for tasks with `requires`; repeatable', addLabel, [])
    .addOption(
      new Option(
        '--cache <folder>',
        'folder for downloaded versions, shared by all runners of this machine (default: millrace in your cache folder)',
      ).env('MILLRACE_CACHE'),
    )
    .addOption(
      new Option('--cache-size <size>', 'maximum size of the cache, such as 500MiB')
        .env('MILLRACE_CACHE_SIZE')
        .default(2 * 1024 ** 3, '2GiB')
        .argParser(bytes),
    )
    .option('--concurrency <count>', 'maximum number of concurrent attempts', positiveInteger, 100)
    .addOption(
      new Option(
        '--grace <duration>',
        'time for attempts to finish after a stop signal; the rest is released, and the runner exits two seconds later',
      )
        .env('MILLRACE_GRACE')
        .default(25_000, '25s')
        .argParser(grace),
    )
    .addOption(
      new Option(
        '--health-port <[address:]port>',
        'port or address of the health endpoints /healthz and /readyz (default: none)',
      )
        .env('MILLRACE_HEALTH_PORT')
        .argParser(listenAddress),
    )
    .addOption(
      new Option(
        '--log-level <level>',
        'minimum level of the log lines on stderr (JSON if it is not a terminal)',
      )
        .env('MILLRACE_LOG_LEVEL')
        .choices(['debug', 'info', 'warn', 'error'])
        .default('info'),
    )
    .addOption(
      new Option('--run-as <user>', 'user that executes tasks; requires a runner started as root').env(
        'MILLRACE_RUN_AS',
      ),
    )
    .addOption(
      new Option(
        '--variables-dir <folder>',
        'folder with one file per task variable, such as secrets mounted by Docker or Kubernetes',
      ).env('MILLRACE_VARIABLES_DIR'),
    )
    .addOption(
      new Option(
        '--variables-command <command>',
        'shell command that prints task variables, as a JSON object or in dotenv format',
      ).env('MILLRACE_VARIABLES_COMMAND'),
    )
    .addOption(
      new Option(
        '--variables-hook <module>',
        'module whose default export is a function that returns task variables',
      ).env('MILLRACE_VARIABLES_HOOK'),
    )
    .addOption(
      new Option('--variables-refresh <duration>', 'interval at which the variables are read again')
        .env('MILLRACE_VARIABLES_REFRESH')
        .default(60_000, '1m')
        .argParser(interval),
    )
    .option('--json', 'print one line of JSON when ready: the runner, and the version of the folder')
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
