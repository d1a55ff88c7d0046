import { spawnSync } from 'node:child_process';
import { chmod, chown, open, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { explainFolder, makeFolder, type Ways } from '@millrace/platform';
import { EmbeddedPostgresError } from './errors.ts';
import { serverUser, type ServerUser } from './server-user.ts';
import type { Settings } from './settings.ts';

/** The folder of archived WAL in a backup folder. */
export const WAL_FOLDER = 'wal';
const SYSTEM_FILE = 'system-id';

/** Seconds after which a partial segment is archived: the maximum data loss if the database's disk is lost. */
const ARCHIVE_TIMEOUT = '60s';

/** The number that initdb assigns to each cluster, and that its copies retain. It is the first field of pg_control. */
export async function systemIdOf(clusterFolder: string): Promise<string> {
  const handle = await open(join(clusterFolder, 'global', 'pg_control'), 'r');
  try {
    const { buffer } = await handle.read(Buffer.alloc(8), 0, 8, 0);
    return buffer.readBigUInt64LE().toString();
  } finally {
    await handle.close();
  }
}

/**
 * Prepares a backup folder for a cluster and returns its folder for WAL, which the server's user owns. Segments of two clusters have the same
 * names, so a folder that belongs to another cluster is rejected.
 */
export async function claimArchive(
  backupFolder: string,
  clusterFolder: string,
  user: ServerUser | null = serverUser(clusterFolder),
): Promise<string> {
  const walFolder = join(backupFolder, WAL_FOLDER);
  if (!relative(clusterFolder, backupFolder).startsWith('..')) {
    throw new EmbeddedPostgresError(
      'permission_denied',
      `The backups cannot be in the folder of the database itself, ${clusterFolder}. Choose another, preferably on another disk.`,
    );
  }
  try {
    await makeFolder(backupFolder, 0o700);
    const systemId = await systemIdOf(clusterFolder);
    if ((await ownerOf(backupFolder, systemId)) !== systemId) {
      throw new EmbeddedPostgresError(
        'permission_denied',
        `The folder ${backupFolder} contains backups of a different database than ${clusterFolder}. Use a separate folder for each database.`,
      );
    }
    await makeFolder(walFolder, 0o700);
    await chmod(walFolder, 0o700);
    if (user) await chown(walFolder, user.uid, user.gid);
  } catch (error) {
    throw explainFolder(error, backupFolder);
  }
  return walFolder;
}

/** The cluster that a backup folder belongs to: the first one that used it. */
async function ownerOf(backupFolder: string, systemId: string): Promise<string> {
  const file = join(backupFolder, SYSTEM_FILE);
  await writeFile(file, `${systemId}\n`, { flag: 'wx', mode: 0o600 }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    },
  );
  return (await readFile(file, 'utf8')).trim();
}

/** Settings that make PostgreSQL archive its WAL to a folder, using PostgreSQL's path of the folder. */
export function archiveSettings(walFolder: string): Settings {
  const folder = quote(walFolder);
  // An existing segment was copied before a crash, or by `millrace backup`; it counts as archived only if its content is the same.
  const script = [
    'umask 077',
    `f=${folder}/%f.gz`,
    `if [ -e "$f" ]; then gzip -dc "$f" | cmp -s - "%p"; else gzip -1c "%p" >"$f.part" && sync "$f.part" && mv "$f.part" "$f" && sync ${folder}; fi`,
  ].join('; ');
  return { archive_mode: 'on', archive_command: script, archive_timeout: ARCHIVE_TIMEOUT };
}

/** PostgreSQL replaces %f and %p in the command; a shell parses the rest. */
const quote = (path: string): string => `'${path.replaceAll('%', '%%').replaceAll("'", String.raw`'\''`)}'`;

/** Throws if a program that the archive command needs is missing. */
export function requireArchivePrograms(ways: Ways): void {
  if (ways === 'windows') {
    throw new EmbeddedPostgresError(
      'no_binaries',
      'The embedded PostgreSQL archives its WAL with a shell, which Windows does not have. Start without --backups, or set DATABASE_URL to a server that you back up yourself.',
    );
  }
  const missing = ['gzip', 'cmp', 'sync'].filter(
    (name) => spawnSync('/bin/sh', ['-c', `command -v ${name}`], { stdio: 'ignore' }).status !== 0,
  );
  if (missing.length === 0) return;
  throw new EmbeddedPostgresError(
    'no_binaries',
    `To archive WAL, PostgreSQL needs the programs gzip, cmp and sync, and this machine lacks ${missing.join(' and ')}. Install ${missing.length === 1 ? 'it' : 'them'}, or start without --backups.`,
  );
}
