import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Queryable } from '../db/connect.ts';
import { DatabaseRefused } from '../db/errors.ts';
import { masterKeyOf, seal, SealBroken, unseal, type MasterKey } from './seal.ts';

/** The master key cannot be had; the message says why and what to do, and never holds the key. */
export class MasterKeyRefused extends Error {
  override name = 'MasterKeyRefused';
}

export interface MasterKeySource {
  /** The text of MILLRACE_MASTER_KEY; wins over the file. */
  readonly env?: string | undefined;
  /** The text of MILLRACE_MASTER_KEY_PREVIOUS: while keys are changed, the other key that may have sealed something. */
  readonly previous?: string | undefined;
  /** Where the key is kept; made (mode 0600) when it is not there. Left out: there must be an `env`. */
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
      'MILLRACE_MASTER_KEY is not set. Make a key with `openssl rand -base64 32`, keep it safe and set it in every server process.',
    );
  }
  const kept = await readIfThere(file);
  if (kept !== undefined) {
    const present = parseMasterKey(kept, file);
    const next = await readNextKey(file);
    return next ? { ...next, previous: present } : present;
  }
  await createKeyFile(file);
  return parseMasterKey(await readFile(file, 'utf8'), file);
}

/** Reads 32 bytes written as 64 hex digits or as base64 (either alphabet). `from` names the source in errors. */
export function parseMasterKey(text: string, from: string): MasterKey {
  const trimmed = text.trim();
  if (/^[0-9a-f]{64}$/i.test(trimmed)) return masterKeyOf(Buffer.from(trimmed, 'hex'));
  if (/^[\w+/-]{43}=?$/.test(trimmed)) return masterKeyOf(Buffer.from(trimmed, 'base64'));
  throw new MasterKeyRefused(
    `${from} is not a master key: it must hold 32 bytes as base64 or as 64 hex digits. Make one with \`openssl rand -base64 32\`.`,
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
 * Beside a key file while its key is changed: the key that takes its place. While it is there, either key may have sealed something, so
 * whoever stops halfway goes on at the next start.
 */
const nextFile = (file: string): string => `${file}.next`;

/** The key that a key file is being changed to; undefined when it is not. */
export async function readNextKey(file: string): Promise<MasterKey | undefined> {
  const text = await readIfThere(nextFile(file));
  return text === undefined ? undefined : parseMasterKey(text, nextFile(file));
}

/** Asks for the key of a key file to be changed to a new one, unless that is under way. There must be a key file. */
export async function askForNextKey(file: string): Promise<void> {
  if ((await readIfThere(file)) === undefined) {
    throw new MasterKeyRefused(`There is no master key file ${file}: nothing was sealed with one.`);
  }
  await createKeyFile(nextFile(file));
}

/** The next key is the key: when nothing is sealed with the one before any more. */
export const keepNextKey = (file: string): Promise<void> => rename(nextFile(file), file);

/** Appears whole or not at all; of several processes that start at once one wins and all read its key. */
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

/** Where the text that tells whether a key is this database's is sealed for. */
export const checkPlace = 'master_key_check:only_row';
const checkText = 'millrace';

/** Refuses a master key that is not this database's, before anything is written with it. The first one becomes the database's. */
export async function checkMasterKey(sql: Queryable, masterKey: MasterKey): Promise<void> {
  await sql`
    insert into master_key_check (sealed) values (${seal(masterKey, checkText, checkPlace)})
    on conflict do nothing`;
  const [row] = await sql<{ sealed: Buffer }[]>`select sealed from master_key_check`;
  try {
    if (row && unseal(masterKey, row.sealed, checkPlace) === checkText) return;
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error;
  }
  throw new DatabaseRefused(
    'The master key is not the one this database was set up with. Start with the MILLRACE_MASTER_KEY (or the key file) it was first started with, or with the one it was changed to since.',
  );
}
