import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { renameOver } from '@millrace/platform';
import { WAL_FOLDER } from '../cluster/index.ts';
import { baseFolder, readBackups, withBackupFolder } from './backup-folder.ts';
import { parseSegment } from './wal.ts';

interface Pruned {
  readonly backups: number;
  readonly walFiles: number;
}

/** Deletes all but the newest `keep` base backups, and the WAL that none of them needs. */
export function prune(backups: string, keep: number): Promise<Pruned> {
  return withBackupFolder(backups, async () => {
    const all = await readBackups(backups);
    const deleted = all.slice(0, Math.max(0, all.length - keep));
    for (const { name } of deleted) {
      // Renamed first, so that a partly deleted backup does not count.
      const draft = join(baseFolder(backups), `draft-${name}`);
      await renameOver(join(baseFolder(backups), name), draft);
      await rm(draft, { recursive: true });
    }
    const [oldest] = all
      .slice(deleted.length)
      .flatMap(({ startWal, segmentBytes }) => parseSegment(startWal, segmentBytes)?.number ?? [])
      .toSorted((a, b) => (a < b ? -1 : 1));
    const segmentBytes = all[0]?.segmentBytes;
    if (oldest === undefined || segmentBytes === undefined) return { backups: deleted.length, walFiles: 0 };
    const walFolder = join(backups, WAL_FOLDER);
    let walFiles = 0;
    for (const file of await readdir(walFolder)) {
      // Numbers continue across timelines. Histories have none and are kept.
      const segment = parseSegment(file.slice(0, 24), segmentBytes);
      if (!segment || segment.number >= oldest || !file.endsWith('.gz')) continue;
      await rm(join(walFolder, file));
      walFiles += 1;
    }
    return { backups: deleted.length, walFiles };
  });
}
