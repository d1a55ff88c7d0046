import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { readableSize } from '@millrace/contract/plain';
import { type Manifest, prune, readBackups, takeBackup } from '@millrace/postgres';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { printTable } from '../print-table.ts';
import { printJson, screenOn } from '../screen.ts';
import { listenForStop } from '../stop-request.ts';
import { waitsFor } from '../waiting.ts';
import { withCleanup } from './cleanup.ts';
import { embeddedOrRunning } from './open-database.ts';

export interface BackupOptions {
  readonly data?: string;
  readonly dir: string;
  readonly to?: string;
  readonly keep?: number;
  readonly json?: boolean;
}

/** Makes a base backup of the embedded PostgreSQL of a folder, whether or not it is running. */
export async function backup({ data, dir, to, keep, json }: BackupOptions): Promise<void> {
  const folder = await dataFolder(data, dir);
  const backups = backupFolder(to, '--to');
  const signal = stopSignal();
  await withCleanup(async (cleanup) => {
    const { database } = await embeddedOrRunning(folder, cleanup);
    waitsFor('the files of the database to be copied');
    const created = await takeBackup({ database, cluster: join(folder, 'postgres'), backups, signal });
    const pruned = keep === undefined ? undefined : await prune(backups, keep);
    waitsFor();
    const keyFile = await existing(join(folder, 'master.key'));
    if (json)
      return printJson({ ...summary(created), backups, masterKeyFile: keyFile ?? null, deleted: pruned });
    const { line } = screenOn(process.stdout);
    line(
      `Backup ${created.name} is in ${backups}: ${readableSize(created.bytes)} in ${created.files.length} files.`,
    );
    if (pruned && pruned.backups > 0)
      line(`Deleted older backups: ${pruned.backups}, and ${pruned.walFiles} files of WAL.`);
    line(
      keyFile === undefined
        ? 'The backup does not contain the master key. Keep a copy of the key elsewhere: without it, the secrets cannot be decrypted.'
        : `The backup does not contain the master key. Keep a copy of ${keyFile} elsewhere: without it, the secrets cannot be decrypted.`,
    );
  });
}

export interface ListOptions {
  readonly from?: string;
  readonly json?: boolean;
}

/** Lists the base backups of a folder. */
export async function listBackups({ from, json }: ListOptions): Promise<void> {
  const backups = backupFolder(from, '--from');
  const found = await readBackups(backups);
  if (json) return printJson({ backups, data: found.map(summary) });
  if (found.length === 0) return screenOn(process.stdout).line(`No backup in ${backups}.`);
  printTable(
    ['backup', 'can be restored from', 'size', 'PostgreSQL', 'Millrace'],
    found.map(({ name, endedAt, bytes, postgres, millrace }) => [
      name,
      endedAt,
      readableSize(bytes),
      postgres,
      millrace,
    ]),
  );
}

const summary = ({ name, startedAt, endedAt, bytes, files, postgres, millrace, timeline }: Manifest) => ({
  name,
  startedAt,
  endedAt,
  bytes,
  files: files.length,
  postgres,
  millrace,
  timeline,
});

/** The folder in the option, otherwise in MILLRACE_BACKUPS. */
export function backupFolder(option: string | undefined, name: string): string {
  const folder = (option ?? process.env['MILLRACE_BACKUPS'])?.trim();
  if (folder) return resolve(folder);
  throw new CommandFailed(
    exitCodes.usage,
    `No backup folder. Pass ${name} <folder> or set MILLRACE_BACKUPS.`,
  );
}

/** Aborted when this process receives a stop signal. */
export function stopSignal(): AbortSignal {
  const stopping = new AbortController();
  listenForStop(() => stopping.abort());
  return stopping.signal;
}

async function dataFolder(data: string | undefined, dir: string): Promise<string> {
  const folder = resolve(data ?? join(dir, '.millrace', 'data'));
  if (await existing(join(folder, 'postgres', 'PG_VERSION'))) return folder;
  if (data === undefined && process.env['DATABASE_URL']?.trim()) {
    throw new CommandFailed(
      exitCodes.usage,
      'DATABASE_URL is an external PostgreSQL: back it up with its own tools. `millrace backup` is for the embedded one (--data). See: millrace help backup',
    );
  }
  throw new CommandFailed(
    exitCodes.cannotStart,
    data === undefined
      ? `No database in ${folder}. Pass --data <folder> with the data folder of \`millrace start\`.`
      : `No database in ${folder}.`,
  );
}

/** The path, if it exists. */
const existing = (path: string): Promise<string | undefined> =>
  stat(path).then(
    () => path,
    () => undefined,
  );
