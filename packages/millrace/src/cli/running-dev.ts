import { constants } from 'node:fs';
import { lstat, mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ownFolder, processBirth, processUser } from '../postgres/index.ts';
import { CommandFailed, exitCodes } from './exit-codes.ts';

/** A server and what one presents there. */
export interface Connection {
  readonly url: string;
  readonly key: string;
}

/** What a running `millrace dev` tells commands in other terminals. */
export interface RunningDev extends Connection {
  /** A personal access token of its user; null once that was revoked. */
  readonly token: string | null;
  readonly pid: number;
}

interface DevFile extends RunningDev {
  readonly birth: string | null;
}

const devFile = (dir: string): string => join(dir, '.millrace', 'dev.json');

export interface OwnedDev {
  /** Leaves address and credentials for other terminals, readable by this user only. */
  remember(dev: Connection & { readonly token: string | null }): Promise<void>;
  /** Takes back what it left, and lets another one start. */
  release(): Promise<void>;
}

/**
 * Makes this process the one `millrace dev` of a folder: two would take away each other's builds, and `dev.json` could name only one
 * of them. Whoever owns the folder is the only one who writes or removes that file.
 */
export async function ownDev(dir: string): Promise<OwnedDev> {
  const file = devFile(dir);
  await mkdir(dirname(file), { recursive: true });
  const ownership = await ownFolder(dirname(file)).catch(async (error: unknown) => {
    if (!(error instanceof Error) || error.name !== 'DataFolderInUse') throw error;
    const { pid } = error as Error & { readonly pid: number };
    const running = await readDev(file);
    const address = running?.pid === pid ? ` at ${running.url}` : ', which is still starting';
    throw new CommandFailed(
      exitCodes.cannotStart,
      `\`millrace dev\` runs in ${dir} already: process ${pid}${address}. Stop it first, or work in a copy of the folder.`,
    );
  });
  // One that was killed could not take it back.
  await rm(file, { force: true });
  return {
    async remember(dev) {
      const content: DevFile = { ...dev, pid: process.pid, birth: processBirth(process.pid) };
      const draft = `${file}.${process.pid}`;
      await rm(draft, { force: true });
      await writeFile(draft, `${JSON.stringify(content)}\n`, { mode: 0o600 });
      // Whole or not at all: another terminal may read it at this moment.
      await rename(draft, file);
    },
    async release() {
      await rm(file, { force: true });
      await ownership.release();
    },
  };
}

/** The `millrace dev` that runs in this folder or in the nearest one above it. */
export async function findDev(dir: string): Promise<RunningDev | undefined> {
  for (let folder = resolve(dir); ; folder = dirname(folder)) {
    const running = await readDev(devFile(folder));
    if (running) return running;
    if (folder === dirname(folder)) return undefined;
  }
}

/**
 * What a `dev` of this user left in a folder. It is sent keys, payloads and values of secrets, so a file is believed only when nobody
 * else can have made it: a repository may bring one of that name, and another user may put one into a folder above.
 */
async function readDev(file: string): Promise<RunningDev | undefined> {
  try {
    const text = await readOwn(file);
    return text === undefined ? undefined : believed(text);
  } catch {
    // None is there, it is a link, or it is no JSON.
    return undefined;
  }
}

/** The text of a file that only this user reads and writes, in a folder of this user, with no link at either. */
async function readOwn(file: string): Promise<string | undefined> {
  const user = process.geteuid?.();
  const folder = await lstat(dirname(file));
  if (!folder.isDirectory() || folder.uid !== user) return undefined;
  // The file that was looked at is the one that is read. A pipe does not hold the command up.
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const found = await handle.stat();
    const isOwn = found.isFile() && found.uid === user && (found.mode & 0o077) === 0;
    return isOwn ? await handle.readFile('utf8') : undefined;
  } finally {
    await handle.close();
  }
}

function believed(text: string): RunningDev | undefined {
  const found = JSON.parse(text) as Partial<Record<keyof DevFile, unknown>> | null;
  const { url, key, token, pid, birth } = found ?? {};
  if (typeof url !== 'string' || typeof key !== 'string' || typeof pid !== 'number') return undefined;
  if (token !== null && typeof token !== 'string') return undefined;
  return isOnThisMachine(url) && isOurs(pid, birth) ? { url, key, token, pid } : undefined;
}

/**
 * When a process was born is known to nobody who was not on this machine then. Where the system does not tell it, no file is believed:
 * address and key are given as settings there.
 */
function isOurs(pid: number, birth: unknown): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0 || typeof birth !== 'string') return false;
  return processBirth(pid) === birth && processUser(pid) === process.geteuid?.();
}

/** `dev` listens nowhere else. */
function isOnThisMachine(url: string): boolean {
  return URL.canParse(url) && ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname);
}
