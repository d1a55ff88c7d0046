import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import {
  requestNextKey,
  changeKeyFile,
  connect,
  loadMasterKey,
  ping,
  readNextKey,
  rotateMasterKey,
  type MasterKey,
} from '@millrace/server';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { printJson, screenOn } from '../screen.ts';
import { waitsFor } from '../waiting.ts';
import { type Cleanup, withCleanup } from './cleanup.ts';
import { embeddedDatabase, embeddedOrRunning, externalDatabase } from './open-database.ts';

export interface RotateOptions {
  readonly data?: string;
  readonly json?: boolean;
}

/** Rotates the master key: to the one in the settings, or to a new one in the key file of a data folder. */
export async function rotateMaster({ data, json }: RotateOptions): Promise<void> {
  const env = process.env['MILLRACE_MASTER_KEY']?.trim() || undefined;
  const previous = process.env['MILLRACE_MASTER_KEY_PREVIOUS']?.trim() || undefined;
  const url = process.env['DATABASE_URL']?.trim() || undefined;
  if ((url === undefined) === (data === undefined)) {
    throw new CommandFailed(
      exitCodes.usage,
      url === undefined
        ? 'No database. Set DATABASE_URL or pass --data <folder>.'
        : 'Both DATABASE_URL and --data are set. Use only one of them.',
    );
  }
  const { line } = screenOn(process.stdout);
  if (data !== undefined && env === undefined && previous === undefined) {
    await changeFile(resolve(data));
    if (json) return printJson({ changed: true });
    return line(
      'The key file contains a new key, and all secrets are encrypted with it. Keep a copy of the key elsewhere.',
    );
  }
  if (env === undefined || previous === undefined) {
    throw new CommandFailed(
      exitCodes.usage,
      'Set MILLRACE_MASTER_KEY to the new key and MILLRACE_MASTER_KEY_PREVIOUS to the current one. With --data and a key file, set neither.',
    );
  }
  const masterKey = await loadMasterKey({ env, previous });
  await withCleanup(async (cleanup) => {
    const database =
      data === undefined
        ? externalDatabase(url ?? '').database
        : (await embeddedOrRunning(resolve(data), cleanup)).database;
    const resealed = await rotate(await ping(database), masterKey, cleanup);
    if (json) return printJson({ resealed });
    line(`Re-encrypted ${resealed} values. MILLRACE_MASTER_KEY_PREVIOUS is no longer needed.`);
  });
}

async function rotate(
  { database, pooler }: Awaited<ReturnType<typeof ping>>,
  masterKey: MasterKey,
  cleanup: Cleanup,
): Promise<number> {
  const sql = connect(database, { name: 'millrace keys', max: 2, pooler });
  cleanup.add(() => sql.end());
  waitsFor('the database, to re-encrypt all secrets');
  const { resealed } = await rotateMasterKey(sql, masterKey).catch(explained);
  return resealed;
}

function explained(error: unknown): never {
  if (!(error instanceof Error) || error.name !== 'UnsealError') throw error;
  throw new CommandFailed(
    exitCodes.cannotStart,
    `A value in this database cannot be decrypted with either of the two keys, so it was left unchanged: ${error.message}`,
  );
}

const isInUse = (error: unknown): boolean => error instanceof Error && error.name === 'DataFolderInUse';

const patienceMs = 120_000;

/**
 * Requests a rotation with a file next to the key file. The process that serves the folder performs it, or this process if there is none.
 */
async function changeFile(folder: string): Promise<void> {
  const file = join(folder, 'master.key');
  await requestNextKey(file);
  waitsFor(`the process that serves ${folder} to change the key, for two minutes at most`);
  const until = performance.now() + patienceMs;
  while ((await readNextKey(file)) && performance.now() < until) {
    const isDone = await changeAlone(folder, file);
    if (!isDone) await setTimeout(200);
  }
  if (await readNextKey(file)) {
    throw new CommandFailed(
      exitCodes.failed,
      'The process that serves the folder has not rotated the key yet: see its log. It continues, even after a restart.',
    );
  }
}

/** False if another process owns the folder. */
async function changeAlone(folder: string, file: string): Promise<boolean> {
  try {
    await withCleanup(async (cleanup) => {
      const { database } = await embeddedDatabase(folder, cleanup, { keepsWal: true });
      const sql = connect(database, { name: 'millrace keys', max: 2 });
      cleanup.add(() => sql.end());
      await changeKeyFile(sql, await loadMasterKey({ file }), file).catch(explained);
    });
    return true;
  } catch (error) {
    if (isInUse(error)) return false;
    throw error;
  }
}
