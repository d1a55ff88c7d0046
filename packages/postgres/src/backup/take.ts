import { readdir, rm, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { connect, type Database, type Sql } from '@millrace/server';
import { renameOver, syncFolder, version } from '@millrace/platform';
import { claimArchive } from '../cluster/index.ts';
import { baseFolder, makeDraft, withBackupFolder } from './backup-folder.ts';
import { copyCluster } from './copy-cluster.ts';
import { BackupFailed, BackupRefused } from './errors.ts';
import { writeManifest, type CopiedFile, type Manifest } from './manifest.ts';
import { archive, archivedNames, parseSegment, segmentName, type Segment } from './wal.ts';

type Session = Parameters<Parameters<Sql['session']>[0]>[0];

export interface TakeBackup {
  readonly database: Database;
  /** The folder of the cluster that serves this database. */
  readonly cluster: string;
  readonly backups: string;
  readonly signal: AbortSignal;
}

/**
 * Creates a base backup of a running cluster: PostgreSQL is notified of the copy, the files are copied while it runs, and the WAL from that
 * period makes them consistent on restore. Stored entirely or not at all.
 */
export async function takeBackup({ database, cluster, backups, signal }: TakeBackup): Promise<Manifest> {
  const walFolder = await claimArchive(backups, cluster);
  return withBackupFolder(backups, async () => {
    const sql = connect(database, { name: 'millrace backup', max: 1, kind: 'bulk' });
    const { draft, name } = await makeDraft(backups, new Date());
    try {
      // Uses one session, because PostgreSQL ends a backup when its session ends, and releases the WAL that its slot retains.
      const manifest = await sql.session((session) =>
        copy({ session, name, draft, cluster, walFolder, signal }),
      );
      await writeManifest(draft, manifest);
      await renameOver(draft, join(baseFolder(backups), name));
      await syncFolder(baseFolder(backups));
      return manifest;
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      if (signal.aborted) throw new BackupFailed('Stopped. The backup was discarded.');
      if (error instanceof Error && error.name === 'DatabaseLost') {
        throw new BackupFailed('PostgreSQL stopped during the backup, which was discarded. Try again.');
      }
      throw error;
    } finally {
      await sql.end({ timeout: 5 });
    }
  });
}

interface Copy {
  readonly session: Session;
  readonly name: string;
  readonly draft: string;
  readonly cluster: string;
  readonly walFolder: string;
  readonly signal: AbortSignal;
}

async function copy({ session, name, draft, cluster, walFolder, signal }: Copy): Promise<Manifest> {
  const about = await readCluster(session);
  if (about.tablespaces > 0) {
    throw new BackupRefused(
      'This database has tablespaces outside its folder, which `millrace backup` does not copy. Use pg_basebackup.',
    );
  }
  // Retains the WAL of the backup in pg_wal until it is copied.
  await session`select pg_create_physical_replication_slot(${`millrace_backup_${process.pid}`}, true, true)`;
  const [started] = await session<{ wal: string; at: Date }[]>`
    select pg_walfile_name(lsn) as wal, clock_timestamp() as at from pg_backup_start(${name}, true) lsn`;
  const data = join(draft, 'data');
  const { folders, files } = await copyCluster(cluster, data, signal);
  const [stopped] = await session<{ wal: string; at: Date; lsn: string; label: string }[]>`
    select pg_walfile_name(lsn) as wal, clock_timestamp() as at, lsn::text, labelfile as label from pg_backup_stop(false)`;
  if (!started || !stopped) throw new Error('a backup starts and stops');
  const label = await writeLabel(data, stopped.label);
  const range = { from: started.wal, to: stopped.wal, segmentBytes: about.segmentBytes };
  await archiveWal(cluster, walFolder, range);
  const all = [...files, label];
  return {
    format: 1,
    name,
    startedAt: started.at.toISOString(),
    // The database counts microseconds. Rounded up, so that this moment can be restored.
    endedAt: new Date(stopped.at.getTime() + 1).toISOString(),
    millrace: version,
    postgres: about.postgres,
    systemId: about.systemId,
    timeline: Number.parseInt(started.wal.slice(0, 8), 16),
    segmentBytes: about.segmentBytes,
    startWal: started.wal,
    endWal: stopped.wal,
    endLsn: stopped.lsn,
    bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
    folders,
    files: all,
  };
}

async function readCluster(session: Session) {
  const [found] = await session<
    { postgres: string; systemId: string; segmentBytes: number; tablespaces: number }[]
  >`
    select current_setting('server_version') as postgres, system_identifier::text as "systemId",
      (select setting::int from pg_settings where name = 'wal_segment_size') as "segmentBytes",
      (select count(*)::int from pg_tablespace where spcname not in ('pg_default', 'pg_global')) as tablespaces
    from pg_control_system()`;
  if (!found) throw new Error('PostgreSQL describes itself');
  return found;
}

async function writeLabel(data: string, text: string): Promise<CopiedFile> {
  await writeFile(join(data, 'backup_label'), text, { mode: 0o600, flush: true });
  const sha256 = createHash('sha256').update(text).digest('hex');
  return { path: 'backup_label', bytes: Buffer.byteLength(text), sha256 };
}

/** Archives the WAL of the backup, the WAL between it and the archived WAL, and the histories of timelines. */
async function archiveWal(
  cluster: string,
  walFolder: string,
  { from, to, segmentBytes }: { readonly from: string; readonly to: string; readonly segmentBytes: number },
): Promise<void> {
  const pgWal = join(cluster, 'pg_wal');
  const first = parseSegment(from, segmentBytes);
  const last = parseSegment(to, segmentBytes);
  if (!first || !last) throw new Error(`PostgreSQL names WAL ${from} and ${to}`);
  const local = new Set(await readdir(pgWal));
  const present = await archivedNames(walFolder);
  const names = [...local].filter((name) => /^[0-9A-F]{8}\.history$/.test(name));
  names.push(...namesBefore(first, segmentBytes, local, present));
  for (let number = first.number; number <= last.number; number += 1n)
    names.push(segmentName({ timeline: first.timeline, number }, segmentBytes));
  for (const name of names) {
    if (present.has(name)) continue;
    await archive(pgWal, name, walFolder).catch(async (error: unknown) => {
      // PostgreSQL has archived and removed the segment in the meantime.
      if (!(await archivedNames(walFolder)).has(name)) throw error;
    });
  }
  await syncFolder(walFolder);
}

/** The segments from the end of the archive up to this one, if PostgreSQL still has all of them. An incomplete range is useless. */
function namesBefore(
  { timeline, number }: Segment,
  segmentBytes: number,
  local: ReadonlySet<string>,
  present: ReadonlySet<string>,
): string[] {
  const names: string[] = [];
  // After a restore the previous segment belongs to an earlier timeline.
  const numbers = new Set([...present].map((name) => name.slice(8)));
  for (let before = number - 1n; before > 0n; before -= 1n) {
    const name = segmentName({ timeline, number: before }, segmentBytes);
    if (present.has(name)) return names;
    if (!local.has(name)) return numbers.has(name.slice(8)) ? names : [];
    names.unshift(name);
  }
  return [];
}
