import { join } from 'node:path';
import { Skipped } from '@millrace/server';
import { newestBackup, systemIdOf } from '@millrace/postgres';
import type { MachineCheck } from './input.ts';

/** The reason for skipping backup checks when no backup folder is known. */
export const noBackupFolder = 'no backup folder: pass --backups or set MILLRACE_BACKUPS';

export const backupMissing: MachineCheck = {
  name: 'backup-missing',
  condition: 'the backup folder has an intact backup of this database',
  severity: 'error',
  why: 'Archived WAL cannot be restored without a base backup. If the data disk is lost, all data is lost.',
  fix: 'Create a backup now, and then every night: `millrace backup --data <folder> --to <backups>`.',
  async find({ data, backups }) {
    if (!backups) throw new Skipped(noBackupFolder);
    const { folder } = backups;
    try {
      const newest = await newestBackup(folder);
      if (!newest) return [{ what: `No backup in ${folder}.` }];
      const systemId = data && (await systemIdOf(join(data, 'postgres')).catch(() => undefined));
      if (systemId === undefined || systemId === newest.systemId) return [];
      return [
        {
          what: `The backups in ${folder} belong to a different database than ${data}.`,
          fix: 'Use a separate backup folder for each database, with `--backups` of `millrace start` and `--to` of `millrace backup`.',
        },
      ];
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'BackupFailed') throw error;
      return [{ what: error.message }];
    }
  },
};
