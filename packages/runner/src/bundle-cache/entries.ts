import { readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renameOver } from '@millrace/platform';

/** A unit that a cache stores and removes as a whole: an unpacked bundle or layer. */
export interface Entry {
  readonly name: string;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly usedAt: number;
}

/** The sizes of a cache's entries: one file for each, whose modification time is that of its last use. */
export class Entries {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async all(): Promise<Entry[]> {
    const names = (await readdir(this.#folder)).filter((name) => !name.endsWith('.draft'));
    const entries = await Promise.all(names.map((name) => this.#read(name)));
    return entries.filter((entry) => entry !== undefined);
  }

  /** Written before the entry exists, so that every entry is counted. */
  async add(name: string, bytes: number): Promise<void> {
    const draft = join(this.#folder, `${name}-${process.pid}.draft`);
    await writeFile(draft, String(bytes));
    await renameOver(draft, join(this.#folder, name));
  }

  async touch(name: string): Promise<void> {
    await utimes(join(this.#folder, name), new Date(), new Date()).catch(() => undefined);
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.#folder, name), { force: true });
  }

  async #read(name: string): Promise<Entry | undefined> {
    try {
      const file = join(this.#folder, name);
      const [text, { mtimeMs }] = await Promise.all([readFile(file, 'utf8'), stat(file)]);
      return { name, bytes: Number(text) || 0, usedAt: mtimeMs };
    } catch {
      // Another process has removed it.
      return undefined;
    }
  }
}
