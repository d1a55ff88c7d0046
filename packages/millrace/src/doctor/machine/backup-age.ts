import { readableDuration } from '@millrace/contract/plain';
import { Skipped } from '@millrace/server';
import { newestBackup } from '@millrace/postgres';
import type { MachineCheck } from './input.ts';
import { noBackupFolder } from './backup-missing.ts';

/** A nightly backup may take hours, and start later than the previous one. */
export const defaultBackupAgeMs = 36 * 3_600_000;

export const backupAge: MachineCheck = {
  name: 'backup-age',
  condition: 'the newest backup is at most 36 hours old (`--max-backup-age`)',
  severity: 'warning',
  why: 'A restore has to replay all WAL since then, which takes a long time and fails at the first gap. Without archived WAL, all changes since then are lost.',
  fix: 'Find out why the nightly backup did not run. Create a backup now: `millrace backup --data <folder> --to <backups>`.',
  async find({ backups, wallClock }) {
    if (!backups) throw new Skipped(noBackupFolder);
    const { folder, maxAgeMs } = backups;
    const newest = await newestBackup(folder).catch(() => undefined);
    if (!newest) throw new Skipped('no backup (see backup-missing)');
    const ageMs = wallClock() - Date.parse(newest.endedAt);
    if (ageMs <= maxAgeMs) return [];
    return [{ what: `The newest backup in ${folder} is ${readableDuration(ageMs)} old: ${newest.name}.` }];
  },
};
