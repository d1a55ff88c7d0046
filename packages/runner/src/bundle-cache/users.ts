import { randomBytes } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isRunning, processStart, renameOver } from '@millrace/platform';

interface User {
  readonly pid: number;
  readonly birth: string | null;
  /** Process ids are meaningful only within their own namespace, and containers may share a cache. */
  readonly namespace: string | null;
  /** The entries that it uses. */
  readonly entries: readonly string[];
}

const touchMs = 60_000;
/** A process in another namespace counts as alive for this long after it last touched its file. */
const unseenMs = 5 * touchMs;

/**
 * Declares which entries of a cache this process uses and finds those that others use. Each process has a file, which counts only while the
 * process named in it is alive, so kill -9 leaves nothing to clean up.
 */
export class Users {
  readonly id = `${process.pid}-${randomBytes(6).toString('hex')}`;
  readonly #folder: string;
  readonly #namespace = namespaceHere();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Replaces the set of entries that this process uses. */
  use(entries: Iterable<string>): Promise<void> {
    const user: User = {
      pid: process.pid,
      birth: processStart(process.pid),
      namespace: this.#namespace,
      entries: [...entries],
    };
    this.#timer ??= setInterval(() => {
      utimes(this.#file, new Date(), new Date()).catch(() => undefined);
    }, touchMs).unref();
    // Runs sequentially, so that the last call takes effect.
    const written = this.#writing.then(() => this.#write(user));
    this.#writing = written.catch(() => undefined);
    return written;
  }

  /** The entries used by live processes, by process id. Removes the files of dead ones. */
  async living(): Promise<Map<string, readonly string[]>> {
    const living = new Map<string, readonly string[]>();
    for (const name of await readdir(this.#folder)) {
      const file = join(this.#folder, name);
      const user = await read(file);
      if (!user) continue;
      if (await this.#isAlive(user, file)) living.set(name, user.entries);
      else await rm(file, { force: true });
    }
    return living;
  }

  async end(): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing;
    // On a read-only disk the file remains, but no longer counts once this process has ended.
    await rm(this.#file, { force: true }).catch(() => undefined);
  }

  get #file(): string {
    return join(this.#folder, this.id);
  }

  async #write(user: User): Promise<void> {
    const draft = join(this.#folder, `${this.id}.draft`);
    await writeFile(draft, JSON.stringify(user));
    await renameOver(draft, this.#file);
  }

  async #isAlive({ pid, birth, namespace }: User, file: string): Promise<boolean> {
    if (namespace !== this.#namespace) {
      const touched = await stat(file).catch(() => undefined);
      return touched !== undefined && Date.now() - touched.mtimeMs < unseenMs;
    }
    if (!isRunning(pid)) return false;
    const now = processStart(pid);
    return now === null || birth === null || now === birth;
  }
}

async function read(file: string): Promise<User | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as User;
  } catch {
    // Renamed or removed in the meantime, or truncated by a power failure.
    return undefined;
  }
}

function namespaceHere(): string | null {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return null;
  }
}
