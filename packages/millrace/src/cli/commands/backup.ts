import { Command } from 'commander';
import type { BackupOptions, ListOptions } from '../compose/backup.ts';
import { positiveInteger } from '../options.ts';

const createCommand = (): Command =>
  new Command('create')
    .description('back up the embedded PostgreSQL of a data folder, whether it runs or not')
    .option('--data <folder>', 'the data folder; default: that of the project of --dir')
    .option('--dir <folder>', 'the project of `millrace dev`', '.')
    .option('--to <folder>', 'the folder of the backups, or MILLRACE_BACKUPS; made when it is missing')
    .option(
      '--keep <count>',
      'then delete all but the newest backups, and the WAL that none of these needs',
      positiveInteger,
    )
    .option('--json', 'one line of JSON on stdout')
    .action(async (options: BackupOptions) => {
      const { backup } = await import('../compose/backup.ts');
      await backup(options);
    });

const listCommand = (): Command =>
  new Command('list')
    .description('the backups of a folder, and from when on each can be restored')
    .option('--from <folder>', 'the folder of the backups, or MILLRACE_BACKUPS')
    .option('--json', 'one line of JSON on stdout')
    .action(async (options: ListOptions) => {
      const { listBackups } = await import('../compose/backup.ts');
      await listBackups(options);
    });

export const backupCommand = (): Command =>
  new Command('backup')
    .description('backups of the embedded PostgreSQL; without a subcommand it makes one')
    .addCommand(createCommand(), { isDefault: true })
    .addCommand(listCommand())
    .addHelpText(
      'after',
      '\nAn outside PostgreSQL is backed up with its own tools. See: millrace help backup',
    );
