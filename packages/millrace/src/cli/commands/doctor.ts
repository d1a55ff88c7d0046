import { parseTimeSpan } from '@millrace/contract/plain';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { DoctorOptions } from '../compose/doctor.ts';
import { address, port } from '../options.ts';

export const doctorCommand = (): Command =>
  new Command('doctor')
    .description('find what is wrong with this machine, the database and the server, and how to mend it')
    .option('--data <folder>', 'the data folder of an embedded PostgreSQL, instead of DATABASE_URL')
    .addOption(
      new Option('--backups <folder>', 'the folder of its backups, to look at the newest').env(
        'MILLRACE_BACKUPS',
      ),
    )
    .option('--max-backup-age <span>', 'how old that may be (default: 36h)', backupAge)
    .addOption(
      new Option('--direct-url <address>', 'PostgreSQL itself, behind a pooler').env('DATABASE_DIRECT_URL'),
    )
    .addOption(
      new Option('--url <address>', 'a running server, as clients and runners reach it')
        .env('MILLRACE_API_URL')
        .argParser(address),
    )
    .addOption(
      new Option('--token <token>', 'a personal access token of an owner, for what only the server sees').env(
        'MILLRACE_ACCESS_TOKEN',
      ),
    )
    .addOption(
      new Option('--key <key>', "an environment's secret key, to try an event stream").env(
        'MILLRACE_SECRET_KEY',
      ),
    )
    .addOption(
      new Option('--host <address>', 'where a server is to listen here')
        .env('MILLRACE_HOST')
        .default('127.0.0.1'),
    )
    .addOption(new Option('--port <port>', 'its port').env('MILLRACE_PORT').default(4400).argParser(port))
    .option('--timeout <span>', 'for each check', timeout, 10_000)
    .option('--dir <folder>', 'the project, for its `millrace dev` and for --from-trigger', '.')
    .option('--from-trigger', 'say what of a project that is written for @trigger.dev/sdk 4.x works here')
    .option('--json', 'one line of JSON')
    .addHelpText(
      'after',
      '\nIt examines what it is told of: DATABASE_URL or --data, and --url. Without --url it finds `millrace dev` of this folder, or the login.\nExit codes: 0 nothing found, 1 errors found, 5 only warnings found. `millrace help doctor` lists the checks.',
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
  throw new InvalidArgumentError('It is a time span from 1m, such as 36h or 8d.');
}

function timeout(text: string): number {
  const ms = parseTimeSpan(text);
  if (typeof ms === 'number' && ms >= 1_000 && ms <= 600_000) return ms;
  throw new InvalidArgumentError('It is a time span from 1s to 10m, such as 30s.');
}
