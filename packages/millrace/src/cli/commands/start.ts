import { Command, Option } from 'commander';
import { port } from '../options.ts';
import type { StartOptions } from '../compose/start.ts';

export const startCommand = (): Command =>
  new Command('start')
    .description('the server for production; runners connect to it with `millrace work`')
    .addOption(new Option('--host <address>', 'where to listen').env('MILLRACE_HOST').default('127.0.0.1'))
    .addOption(new Option('--port <port>', '0 = any').env('MILLRACE_PORT').default(4400).argParser(port))
    .option('--data <folder>', 'the embedded PostgreSQL on this folder, instead of DATABASE_URL')
    .addOption(
      new Option(
        '--backups <folder>',
        'with --data: archive the WAL to this folder, so that `millrace restore` can go to any moment',
      ).env('MILLRACE_BACKUPS'),
    )
    .addOption(
      new Option(
        '--direct-url <address>',
        'PostgreSQL itself, where DATABASE_URL is a pooler in transaction mode; the variable keeps a password out of `ps`',
      ).env('DATABASE_DIRECT_URL'),
    )
    .option(
      '--master-key-file <file>',
      'the master key, instead of MILLRACE_MASTER_KEY; made at the first start',
    )
    .addOption(
      new Option('--log-level <level>', 'of the JSON lines on stderr')
        .env('MILLRACE_LOG_LEVEL')
        .choices(['debug', 'info', 'warn', 'error'])
        .default('info'),
    )
    .option(
      '--paused',
      'start and fire nothing until `millrace resume`, on all servers of the database (or MILLRACE_PAUSED=1)',
    )
    .addOption(
      new Option(
        '--secrets-file <file>',
        'where the first start writes the secrets that it makes, unless it shows them (default: millrace-secrets.json in the data folder, or here)',
      ).env('MILLRACE_SECRETS_FILE'),
    )
    .option('--show-secrets', 'the first start shows the secrets on stdout, also where that is no terminal')
    .option('--json', 'when ready, one line of JSON on stdout: url, and where the first secrets are')
    .addHelpText(
      'after',
      '\nSettings: DATABASE_URL (a PostgreSQL 15 or later), MILLRACE_MASTER_KEY (`openssl rand -base64 32`).\nThe secrets of the first start can be given: MILLRACE_BOOTSTRAP_… (see: millrace help operations).',
    )
    .action(async (options: StartOptions) => {
      const { start } = await import('../compose/start.ts');
      await start(options);
    });
