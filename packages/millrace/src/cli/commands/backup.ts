import { Command } from 'commander';
import type { BackupOptions, ListOptions } from '../compose/backup.ts';
import { positiveInteger } from '../options.ts';

const createCommand = (): Command =>
  new Command('create')
    .description('back up the embedded PostgreSQL, running or stopped')
    .option('--data <folder>', 'data folder (default: from the project in --dir)')
    .option('--dir <folder>', 'project folder, used to find its `millrace dev`', '.')
    .option('--to <folder>', 'folder for backups, created if missing (or MILLRACE_BACKUPS)')
    .option(
      '--keep <count>',
      'then delete all but this many backups, and WAL that they do not need',
      positiveInteger,
    )
    .option('--json', 'print JSON')
    .action(async (options: BackupOptions) => {
      const { backup } = await import('../compose/backup.ts');
      await backup(options);
    });

const listCommand = (): Command =>
  new Command('list')
    .description('list backups and the earliest time each can restore')
    .option('--from <folder>', 'folder with the backups (or MILLRACE_BACKUPS)')
    .option('--json', 'print JSON')
    .action(async (options: ListOptions) => {
      const { listBackups } = await import('../compose/backup.ts');
      await listBackups(options);
    });

export const backupCommand = (): Command =>
  new Command('backup')
    .description('manage backups of the embedded PostgreSQL')
    .addCommand(createCommand(), { isDefault: true })
    .addCommand(listCommand())
    .addHelpText(
      'after',
      '\nWithout a subcommand, it creates a backup.\nTo back up an external PostgreSQL, use its own tools. See: millrace help backup',
    );
