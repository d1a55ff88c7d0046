import { copyFile, chmod, constants, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect, isMasterKeyOf, type MasterKey, type Sql } from '@millrace/server';
import { startPostgres, WAL_FOLDER } from '../cluster/index.ts';
import { readBackups } from './backup-folder.ts';
import { chooseBase, neededWal, parseHistory, type Branch } from './choose.ts';
import { BackupFailed, BackupRefused } from './errors.ts';
import type { Manifest } from './manifest.ts';
import { fillDataFolder } from './target-folder.ts';
import { unpackBackup } from './unpack-backup.ts';
import { archivedNames, unpack } from './wal.ts';

export interface Restore {
  readonly backups: string;
  readonly dataFolder: string;
  /** The moment to restore to; undefined for the end of the archive. */
  readonly at?: Date | undefined;
  readonly timeline?: number | undefined;
  readonly paused: boolean;
  /** A master key that must match the database, and its source. */
  readonly masterKey?: { readonly key: MasterKey; readonly from: string } | undefined;
  /** A key file to copy into the data folder. */
  readonly keyFile?: string | undefined;
  readonly signal: AbortSignal;
  readonly onStep: (what: string) => void;
}

export interface Restored {
  readonly base: Manifest;
  /** When the last transaction restored from WAL was committed; null if there was none. */
  readonly lastTransactionAt: Date | null;
}

/** Restores the database of a backup folder to a new data folder, entirely or not at all. */
export async function restore(options: Restore): Promise<Restored> {
  const { backups, dataFolder, at, keyFile, signal, onStep } = options;
  const bases = await readBackups(backups);
  if (bases.length === 0) throw new BackupRefused(`No backup in ${backups}.`);
  const walFolder = join(backups, WAL_FOLDER);
  const archived = await archivedNames(walFolder);
  const fill = async (draft: string): Promise<Restored> => {
    const cluster = join(draft, 'postgres');
    const branches = await readBranches(options, bases, archived, draft);
    const base = chooseBase(bases, branches, at);
    const { names, missing } = neededWal(base, branches, archived);
    if (missing !== undefined && at === undefined) {
      throw new BackupFailed(
        `The WAL ${missing} is missing in ${walFolder}, but later WAL exists. Pass --at with a time before the gap.`,
      );
    }
    onStep(`the files of backup ${base.name} to be copied and verified`);
    await unpackBackup(backups, base, cluster, signal);
    const histories = [...archived].filter((name) => name.endsWith('.history'));
    for (const name of [...histories, ...names]) {
      signal.throwIfAborted();
      await unpack(walFolder, name, join(cluster, 'pg_wal'));
    }
    onStep('PostgreSQL to replay the WAL');
    const timeline = branches.at(-1)?.timeline ?? base.timeline;
    const lastTransactionAt = await recover(options, draft, timeline, missing).catch((error: unknown) => {
      throw explainVersion(error, base);
    });
    signal.throwIfAborted();
    if (keyFile !== undefined) {
      const target = join(dataFolder, 'master.key');
      await copyFile(keyFile, target, constants.COPYFILE_EXCL);
      await chmod(target, 0o600);
    }
    return { base, lastTransactionAt };
  };
  return fillDataFolder(dataFolder, fill).catch((error: unknown) => {
    throw signal.aborted ? new BackupFailed('Stopped. Nothing was restored.') : error;
  });
}

/** The timelines that lead to the requested one, by default the newest. */
async function readBranches(
  { backups, timeline }: Restore,
  bases: readonly Manifest[],
  archived: ReadonlySet<string>,
  draft: string,
): Promise<Branch[]> {
  const histories = [...archived].flatMap((name) => /^([0-9A-F]{8})\.history$/.exec(name)?.[1] ?? []);
  const ids = [...histories.map((id) => Number.parseInt(id, 16)), ...bases.map((base) => base.timeline)];
  const target = timeline ?? Math.max(...ids);
  const name = `${target.toString(16).toUpperCase().padStart(8, '0')}.history`;
  if (archived.has(name)) {
    const folder = join(draft, 'history');
    await unpack(join(backups, WAL_FOLDER), name, folder);
    return parseHistory(await readFile(join(folder, name), 'utf8'), target);
  }
  if (ids.includes(target) || target === 1) return [{ timeline: target }];
  throw new BackupFailed(`No timeline ${target} in ${backups}.`);
}

/** Lets PostgreSQL replay WAL up to the moment, then pauses the installation before it can be started. */
async function recover(
  { at, paused, masterKey }: Restore,
  draft: string,
  timeline: number,
  missing: string | undefined,
): Promise<Date | null> {
  await writeFile(join(draft, 'postgres', 'recovery.signal'), '');
  const lines: string[] = [];
  const running = await startPostgres({
    dataDir: draft,
    onLog: (line) => lines.push(line),
    settings: {
      // All of it is in pg_wal, which is read if this fails.
      restore_command: 'exit 1',
      recovery_target_timeline: String(timeline),
      ...(at && { recovery_target_time: at.toISOString().replace('T', ' ').replace('Z', '+00') }),
      recovery_target_action: 'promote',
      hot_standby: 'off',
    },
  }).catch((error: unknown) => {
    throw explainRecovery(error, lines.join('\n'), at, missing);
  });
  try {
    const sql = connect(running.connection, { name: 'millrace restore', max: 1 });
    try {
      if (masterKey && !(await isMasterKeyOf(sql, masterKey.key))) {
        throw new BackupRefused(
          `The key of ${masterKey.from} cannot decrypt the secrets of this backup. Pass the master key that was in use at the time.`,
        );
      }
      if (paused) await pause(sql);
      const [last] = await sql<{ at: Date | null }[]>`select pg_last_xact_replay_timestamp() as at`;
      return last?.at ?? null;
    } finally {
      await sql.end({ timeout: 5 });
    }
  } finally {
    await running.stop();
  }
}

/** A backup of a database that has never been used by a server has no tables. */
async function pause(sql: Sql): Promise<void> {
  const [table] = await sql<{ exists: boolean }[]>`select to_regclass('installation') is not null as exists`;
  if (table?.exists) await sql`update installation set paused_at = now() where paused_at is null`;
}

/** The draft contains a cluster of an older PostgreSQL, so the advice for a data folder does not apply. */
function explainVersion(error: unknown, { postgres, millrace, name }: Manifest): unknown {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'other_version') return error;
  return new BackupRefused(
    `The backup ${name} is from PostgreSQL ${postgres}, which this Millrace does not include. Restore it with Millrace ${millrace}, which created it, then run \`millrace upgrade-data\` on the new folder.`,
  );
}

function explainRecovery(
  error: unknown,
  log: string,
  at: Date | undefined,
  missing: string | undefined,
): unknown {
  if (!log.includes('recovery ended before configured recovery target was reached')) return error;
  const last = /last completed transaction was at log time (\S+ \S+)/.exec(log)?.[1];
  const until = last
    ? `its last transaction is from ${new Date(last).toISOString()}`
    : 'it contains no transactions';
  const gap = missing === undefined ? '' : ` The WAL ${missing} is missing, but later WAL exists.`;
  return new BackupFailed(
    `The archive does not reach ${at?.toISOString()}: ${until}.${gap} Pass an earlier time${missing === undefined ? ', or omit --at to restore to the end' : ''}.`,
  );
}
