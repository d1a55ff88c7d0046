import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isRunning, ownFolder, processBirth } from '../postgres/index.ts';
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

async function readDev(file: string): Promise<RunningDev | undefined> {
  // One that somebody else put into a folder above ours would be sent our payloads and secrets.
  const { uid } = await stat(file).catch(() => ({ uid: undefined }));
  if (uid === undefined || (process.getuid && uid !== process.getuid())) return undefined;
  const found = await readFile(file, 'utf8').then(
    (text) => JSON.parse(text) as DevFile,
    () => undefined,
  );
  return found && isAlive(found) ? found : undefined;
}

function isAlive({ pid, birth }: DevFile): boolean {
  if (!isRunning(pid)) return false;
  const now = processBirth(pid);
  return now === null || birth === null || now === birth;
}
