import { parseTimeSpan } from '@millrace/contract/plain';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { DoctorOptions } from '../compose/doctor.ts';
import { address, port } from '../options.ts';

export const doctorCommand = (): Command =>
  new Command('doctor')
    .description('check the machine, database and server for problems')
    .option('--data <folder>', 'data folder of the embedded PostgreSQL, instead of DATABASE_URL')
    .addOption(
      new Option('--backups <folder>', 'folder with its backups, to check the newest one').env(
        'MILLRACE_BACKUPS',
      ),
    )
    .option('--max-backup-age <duration>', 'maximum age of the newest backup (default: 36h)', backupAge)
    .addOption(
      new Option('--direct-url <url>', 'URL of PostgreSQL itself, if DATABASE_URL is a pooler').env(
        'DATABASE_DIRECT_URL',
      ),
    )
    .addOption(
      new Option('--url <url>', 'URL of a running server, as clients and runners reach it')
        .env('MILLRACE_API_URL')
        .argParser(address),
    )
    .addOption(
      new Option('--token <token>', 'personal access token of an owner, for checks inside the server').env(
        'MILLRACE_ACCESS_TOKEN',
      ),
    )
    .addOption(
      new Option('--key <key>', 'secret key of an environment, to test an event stream').env(
        'MILLRACE_SECRET_KEY',
      ),
    )
    .addOption(
      new Option('--host <address>', 'address that a server on this machine would listen on')
        .env('MILLRACE_HOST')
        .default('127.0.0.1'),
    )
    .addOption(
      new Option('--port <port>', 'port that a server on this machine would listen on')
        .env('MILLRACE_PORT')
        .default(4400)
        .argParser(port),
    )
    .addOption(
      new Option('--timeout <duration>', 'time limit for each check')
        .default(10_000, '10s')
        .argParser(timeout),
    )
    .option('--dir <folder>', 'project folder, used to find its `millrace dev` and by --from-trigger', '.')
    .option('--from-trigger', 'report how a project for @trigger.dev/sdk 4.x would work with Millrace')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nChecks the database in DATABASE_URL or --data, and the server in --url. Without --url, it checks the `millrace dev` of this folder, or the server of your login.\nExit codes: 0 no problems, 1 errors, 5 only warnings. `millrace help doctor` lists the checks.',
    )
    .action(async (options: DoctorOptions & { readonly fromTrigger?: boolean }) => {
      if (options.fromTrigger) {
        const { examineProject } = await import('../compose/doctor-from-trigger.ts');
        return examineProject(options);
      }
      const { doctor } = await import('../compose/doctor.ts');
      await doctor(options);
    });

function backupAge(text: string): number {
  const ms = parseTimeSpan(text);
  if (typeof ms === 'number' && ms >= 60_000) return ms;
  throw new InvalidArgumentError('Must be a duration of at least 1m, such as 36h or 8d.');
}

function timeout(text: string): number {
  const ms = parseTimeSpan(text);
  if (typeof ms === 'number' && ms >= 1_000 && ms <= 600_000) return ms;
  throw new InvalidArgumentError('Must be a duration from 1s to 10m, such as 30s.');
}
