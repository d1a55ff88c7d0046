import { parseInstant } from '@millrace/contract/plain';
import { Command, InvalidArgumentError } from 'commander';
import type { RestoreOptions } from '../compose/restore.ts';
import { positiveInteger } from '../options.ts';

export const restoreCommand = (): Command =>
  new Command('restore')
    .description('restore a backup to a new data folder, which starts paused')
    .option('--from <folder>', 'folder with the backups (or MILLRACE_BACKUPS)')
    .requiredOption('--to <folder>', 'new data folder, which must be missing or empty')
    .option(
      '--at <time>',
      "point in time to restore, such as '2026-11-28T10:00:00Z' (default: the end of the archive)",
      moment,
    )
    .option(
      '--timeline <number>',
      'timeline to follow (default: the newest, from the last restore)',
      positiveInteger,
    )
    .option(
      '--master-key-file <file>',
      'file with the master key, which is checked against the backup and copied to the data folder',
    )
    .option('--no-pause', 'start unpaused: runs start and schedules fire without `millrace resume`')
    .option('--json', 'print JSON')
    .action(async (options: RestoreOptions) => {
      const { restoreBackup } = await import('../compose/restore.ts');
      await restoreBackup(options);
    });

function moment(text: string): Date {
  const at = parseInstant(text);
  if (at === undefined)
    throw new InvalidArgumentError('Must be an ISO 8601 time, such as 2026-11-28T10:00:00Z.');
  if (at.getTime() > Date.now()) throw new InvalidArgumentError('Must not be in the future.');
  return at;
}
