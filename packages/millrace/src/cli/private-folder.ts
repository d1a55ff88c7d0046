import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ownWays } from '@millrace/platform';

/** A folder that only this user may read and write, for trusted data on systems without file owners. Undefined on other systems. */
export const ownPrivateFolder: string | undefined =
  ownWays === 'windows'
    ? join(process.env['LOCALAPPDATA'] ?? join(homedir(), 'AppData', 'Local'), 'millrace', 'dev')
    : undefined;

/** The file in it that belongs to a folder. On such systems, drives and names are case-insensitive, and terminals may use either case. */
export async function privateFileOf(privateFolder: string, folder: string): Promise<string> {
  const path = (await realpath(folder).catch(() => folder)).toLowerCase();
  return join(privateFolder, `${createHash('sha256').update(path).digest('hex').slice(0, 32)}.json`);
}
