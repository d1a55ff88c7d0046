import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Queryable } from '../db/connect.ts';
import { DatabaseRefused } from '../db/errors.ts';
import { masterKeyOf, seal, UnsealError, unseal, type MasterKey } from './seal.ts';

/** The master key cannot be loaded. The message contains the reason and the fix, and never the key. */
export class MasterKeyRefused extends Error {
  override name = 'MasterKeyRefused';
}

export interface MasterKeySource {
  /** The text of MILLRACE_MASTER_KEY; takes precedence over the file. */
  readonly env?: string | undefined;
  /** The text of MILLRACE_MASTER_KEY_PREVIOUS: during a rotation, the other key that values may be sealed with. */
  readonly previous?: string | undefined;
  /** The key file; created (mode 0600) if it does not exist. Without it, `env` is required. */
  readonly file?: string | undefined;
}

/** The master key of this installation, from the environment or from its file. */
export async function loadMasterKey({ previous, ...source }: MasterKeySource): Promise<MasterKey> {
  const masterKey = await loadKey(source);
  if (previous === undefined || previous.trim() === '') return masterKey;
  return { ...masterKey, previous: parseMasterKey(previous, 'MILLRACE_MASTER_KEY_PREVIOUS') };
}

async function loadKey({ env, file }: Omit<MasterKeySource, 'previous'>): Promise<MasterKey> {
  if (env !== undefined && env.trim() !== '') return parseMasterKey(env, 'MILLRACE_MASTER_KEY');
  if (file === undefined) {
    throw new MasterKeyRefused(
      'MILLRACE_MASTER_KEY is not set. Generate a key with `openssl rand -base64 32`, store it safely and set it in every server process.',
    );
  }
  const stored = await readIfThere(file);
  if (stored !== undefined) {
    const present = parseMasterKey(stored, file);
    const next = await readNextKey(file);
    return next ? { ...next, previous: present } : present;
  }
  await createKeyFile(file);
  return parseMasterKey(await readFile(file, 'utf8'), file);
}

/** Reads 32 bytes from 64 hex digits or base64 (either alphabet). `from` names the source in errors. */
export function parseMasterKey(text: string, from: string): MasterKey {
  const trimmed = text.trim();
  if (/^[0-9a-f]{64}$/i.test(trimmed)) return masterKeyOf(Buffer.from(trimmed, 'hex'));
  if (/^[\w+/-]{43}=?$/.test(trimmed)) return masterKeyOf(Buffer.from(trimmed, 'base64'));
  throw new MasterKeyRefused(
    `${from} is not a master key: it must contain 32 bytes, in base64 or as 64 hex digits. Generate one with \`openssl rand -base64 32\`.`,
  );
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new MasterKeyRefused(`The master key file ${file} cannot be read: ${(error as Error).message}`);
  }
}

/**
 * The next key, in a file next to the key file during a rotation. While that file exists, values may be sealed with either key. An
 * interrupted rotation continues at the next start.
 */
const nextFile = (file: string): string => `${file}.next`;

/** The next key during a rotation; undefined otherwise. */
export async function readNextKey(file: string): Promise<MasterKey | undefined> {
  const text = await readIfThere(nextFile(file));
  return text === undefined ? undefined : parseMasterKey(text, nextFile(file));
}

/** Requests a rotation to a new key, unless one is in progress. The key file must exist. */
export async function requestNextKey(file: string): Promise<void> {
  if ((await readIfThere(file)) === undefined) {
    throw new MasterKeyRefused(`No master key file to rotate: ${file}.`);
  }
  await createKeyFile(nextFile(file));
}

/** Replaces the key file by the next key, once no value is sealed with the old key. */
export const promoteNextKey = (file: string): Promise<void> => rename(nextFile(file), file);

/** Creates the file atomically. If several processes start at the same time, one of them creates the file and all of them read its key. */
async function createKeyFile(file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(`${randomBytes(32).toString('base64')}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  try {
    await link(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await unlink(draft);
  }
}

/** The encryption context of the text that verifies the master key. */
export const masterKeyCheckContext = 'master_key_check:only_row';
const checkText = 'millrace';

/**
 * Throws if the master key does not belong to this database, before anything is written with it. The first key ever used becomes the
 * database's key.
 */
export async function checkMasterKey(sql: Queryable, masterKey: MasterKey): Promise<void> {
  await sql`
    insert into master_key_check (sealed) values (${seal(masterKey, checkText, masterKeyCheckContext)})
    on conflict do nothing`;
  if (await isMasterKeyOf(sql, masterKey)) return;
  throw new DatabaseRefused(
    'This is not the master key of this database. Start with the MILLRACE_MASTER_KEY (or the key file) that it was first started with, or that it was last rotated to.',
  );
}

/** Whether the secrets of a database are sealed with this key. A database that never had a key accepts any. */
export async function isMasterKeyOf(sql: Queryable, masterKey: MasterKey): Promise<boolean> {
  const [table] = await sql<
    { exists: boolean }[]
  >`select to_regclass('master_key_check') is not null as exists`;
  if (!table?.exists) return true;
  const [row] = await sql<{ sealed: Buffer }[]>`select sealed from master_key_check`;
  if (!row) return true;
  try {
    return unseal(masterKey, row.sealed, masterKeyCheckContext) === checkText;
  } catch (error) {
    if (error instanceof UnsealError) return false;
    throw error;
  }
}
