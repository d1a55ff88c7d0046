import { constants } from 'node:fs';
import { lstat, open, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import {
  explainFolder,
  isRunning,
  lockFolder,
  makeFolder,
  processStart,
  processUser,
  renameOver,
} from '@millrace/platform';
import { CommandFailed, exitCodes } from './exit-codes.ts';
import { ownPrivateFolder, privateFileOf } from './private-folder.ts';

/** A server and a secret key for it. */
export interface Connection {
  readonly url: string;
  readonly key: string;
}

/** The data of a running `millrace dev` for commands in other terminals. */
export interface RunningDev extends Connection {
  /** A personal access token of its user; null after it was revoked. */
  readonly token: string | null;
  readonly pid: number;
}

interface DevFile extends RunningDev {
  readonly birth: string | null;
}

const devFile = async (dir: string, privateFolder: string | undefined): Promise<string> =>
  privateFolder === undefined ? join(dir, '.millrace', 'dev.json') : privateFileOf(privateFolder, dir);

export interface OwnedDev {
  /** Writes address and credentials for other terminals, readable only by this user. */
  remember(dev: Connection & { readonly token: string | null }): Promise<void>;
  /** Removes the file and releases the folder. */
  release(): Promise<void>;
}

/**
 * Makes this process the only `millrace dev` in a folder, because two would delete each other's builds, and `dev.json` can name only one.
 * Only the owner of the folder writes or removes that file.
 */
export async function ownDev(dir: string, privateFolder = ownPrivateFolder): Promise<OwnedDev> {
  const file = await devFile(dir, privateFolder);
  const owned = join(dir, '.millrace');
  await makeFolder(owned);
  await makeFolder(dirname(file));
  const ownership = await lockFolder(owned).catch(async (error: unknown) => {
    if (!(error instanceof Error) || error.name !== 'DataFolderInUse') throw explainFolder(error, owned);
    const { pid } = error as Error & { readonly pid: number };
    const running = await readDev(file, privateFolder);
    const address = running?.pid === pid ? ` at ${running.url}` : ', which is still starting';
    throw new CommandFailed(
      exitCodes.cannotStart,
      `\`millrace dev\` is already running in ${dir}: process ${pid}${address}. Stop it first, or use a copy of the folder.`,
    );
  });
  // Left behind by a killed process.
  await rm(file, { force: true });
  return {
    async remember(dev) {
      const content: DevFile = { ...dev, pid: process.pid, birth: processStart(process.pid) };
      const draft = `${file}.${process.pid}`;
      await rm(draft, { force: true });
      await writeFile(draft, `${JSON.stringify(content)}\n`, { mode: 0o600 });
      // Atomic, because another terminal may be reading it.
      await renameOver(draft, file);
    },
    async release() {
      await rm(file, { force: true });
      await ownership.release();
    },
  };
}

/** The running `millrace dev` of this folder or of the nearest one above it. */
export async function findDev(
  dir: string,
  privateFolder = ownPrivateFolder,
): Promise<RunningDev | undefined> {
  for (let folder = resolve(dir); ; folder = dirname(folder)) {
    const running = await readDev(await devFile(folder, privateFolder), privateFolder);
    if (running) return running;
    if (folder === dirname(folder)) return undefined;
  }
}

/**
 * Reads the file of this user's `dev`. Commands send keys, payloads and secrets to its address, so the file is only trusted if no other user can
 * have written it: a repository may contain such a file, and another user may create one in a parent folder. Files in a private folder were
 * written by this user.
 */
async function readDev(file: string, privateFolder: string | undefined): Promise<RunningDev | undefined> {
  try {
    if (privateFolder !== undefined) return parseTrusted(await readFile(file, 'utf8'), isAlive);
    const text = await readOwn(file);
    return text === undefined ? undefined : parseTrusted(text, isOurs);
  } catch {
    // There is none, it is a link, or it is not JSON.
    return undefined;
  }
}

/** Reads a file that only this user can read and write, in a folder of this user; neither may be a link. */
async function readOwn(file: string): Promise<string | undefined> {
  const user = process.geteuid?.();
  const folder = await lstat(dirname(file));
  if (!folder.isDirectory() || folder.uid !== user) return undefined;
  // Checks and reads the same open file. O_NONBLOCK, so that a pipe does not block the command.
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const found = await handle.stat();
    const isOwn = found.isFile() && found.uid === user && (found.mode & 0o077) === 0;
    return isOwn ? await handle.readFile('utf8') : undefined;
  } finally {
    await handle.close();
  }
}

function parseTrusted(
  text: string,
  isItsProcess: (pid: number, birth: unknown) => boolean,
): RunningDev | undefined {
  const found = JSON.parse(text) as Partial<Record<keyof DevFile, unknown>> | null;
  const { url, key, token, pid, birth } = found ?? {};
  if (typeof url !== 'string' || typeof key !== 'string' || typeof pid !== 'number') return undefined;
  if (token !== null && typeof token !== 'string') return undefined;
  return isOnThisMachine(url) && isItsProcess(pid, birth) ? { url, key, token, pid } : undefined;
}

/**
 * Compares the start time of the process, which only this machine knows. On systems without it no file is trusted, and address and key
 * must be set explicitly.
 */
function isOurs(pid: number, birth: unknown): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0 || typeof birth !== 'string') return false;
  return processStart(pid) === birth && processUser(pid) === process.geteuid?.();
}

const isAlive = (pid: number): boolean => Number.isSafeInteger(pid) && pid > 0 && isRunning(pid);

/** `dev` only listens on this machine. */
function isOnThisMachine(url: string): boolean {
  return URL.canParse(url) && ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname);
}
