import { parseInstant } from '@millrace/contract/plain';
import { Command, InvalidArgumentError } from 'commander';
import type { RestoreOptions } from '../compose/restore.ts';
import { positiveInteger } from '../options.ts';

export const restoreCommand = (): Command =>
  new Command('restore')
    .description('restore a backup of the embedded PostgreSQL to a new data folder, paused')
    .option('--from <folder>', 'the folder of the backups, or MILLRACE_BACKUPS')
    .requiredOption('--to <folder>', 'the new data folder; it must be missing or empty')
    .option(
      '--at <time>',
      "the moment to restore to, such as '2026-11-28T10:00:00Z'; default: the end of the archive",
      moment,
    )
    .option(
      '--timeline <number>',
      'the timeline to follow; default: the newest, which is that of the last restore',
      positiveInteger,
    )
    .option(
      '--master-key-file <file>',
      'the master key: verified against the backup, and copied to the data folder',
    )
    .option('--no-pause', 'let it start and fire everything at once, instead of after `millrace resume`')
    .option('--json', 'one line of JSON on stdout')
    .action(async (options: RestoreOptions) => {
      const { restoreBackup } = await import('../compose/restore.ts');
      await restoreBackup(options);
    });

function moment(text: string): Date {
  const at = parseInstant(text);
  if (at === undefined)
    throw new InvalidArgumentError('It is a time in ISO 8601, such as 2026-11-28T10:00:00Z.');
  if (at.getTime() > Date.now()) throw new InvalidArgumentError('It is in the future.');
  return at;
}
