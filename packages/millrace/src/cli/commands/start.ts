import { Command, Option } from 'commander';
import { port } from '../options.ts';
import type { StartOptions } from '../compose/start.ts';

export const startCommand = (): Command =>
  new Command('start')
    .description('run a server in production')
    .addOption(
      new Option('--host <address>', 'address to listen on').env('MILLRACE_HOST').default('127.0.0.1'),
    )
    .addOption(
      new Option('--port <port>', 'port to listen on, 0 for any free port')
        .env('MILLRACE_PORT')
        .default(4400)
        .argParser(port),
    )
    .option('--data <folder>', 'run the embedded PostgreSQL in this data folder, instead of DATABASE_URL')
    .addOption(
      new Option(
        '--backups <folder>',
        'with --data: archive the WAL to this folder, so that `millrace restore` can restore any point in time',
      ).env('MILLRACE_BACKUPS'),
    )
    .addOption(
      new Option(
        '--direct-url <url>',
        'URL of PostgreSQL itself, if DATABASE_URL is a pooler in transaction mode; use the variable to keep the password out of `ps`',
      ).env('DATABASE_DIRECT_URL'),
    )
    .option(
      '--master-key-file <file>',
      'file with the master key, instead of MILLRACE_MASTER_KEY; created at the first start',
    )
    .addOption(
      new Option('--log-level <level>', 'minimum level of the log lines on stderr (JSON)')
        .env('MILLRACE_LOG_LEVEL')
        .choices(['debug', 'info', 'warn', 'error'])
        .default('info'),
    )
    .option(
      '--paused',
      'pause all servers of the database until `millrace resume`: no runs start and no schedules fire (or MILLRACE_PAUSED=1)',
    )
    .addOption(
      new Option(
        '--secrets-file <file>',
        'file for the secrets created at the first start, unless they are printed (default: millrace-secrets.json in the data folder or the current folder)',
      ).env('MILLRACE_SECRETS_FILE'),
    )
    .option(
      '--show-secrets',
      'print the secrets created at the first start to stdout, even if it is not a terminal',
    )
    .option('--json', 'print one line of JSON when ready: url, and the location of the first secrets')
    .addHelpText(
      'after',
      '\nRunners connect to the server with `millrace work`.\nEnvironment variables: DATABASE_URL (PostgreSQL 15 or later), MILLRACE_MASTER_KEY (`openssl rand -base64 32`).\nTo choose the secrets of the first start, set MILLRACE_BOOTSTRAP_… (see: millrace help operations).',
    )
    .action(async (options: StartOptions) => {
      const { start } = await import('../compose/start.ts');
      await start(options);
    });
