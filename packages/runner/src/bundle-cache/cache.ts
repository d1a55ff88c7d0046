import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { BundleLayer } from '@millrace/contract/runner';
import { explainFolder, makeFolder, renameOver } from '@millrace/platform';
import { contentOf, isBundleIntact } from './digests.ts';
import { Entries } from './entries.ts';
import { CannotServe, codeOf, Damaged, DiskFull, isFull } from './errors.ts';
import { Marks } from './marks.ts';
import type { BundleSource, FetchedBundle } from './source.ts';
import { unpackBundle } from './unpack-bundle.ts';
import { unpackLayer } from './unpack-layer.ts';
import { Users } from './users.ts';
import { withLock } from './with-lock.ts';

/** How many times content that arrives corrupted is fetched. */
const tries = 3;

/** A required entry, and how to fetch it. */
interface RequiredEntry {
  /** The folder, relative to the cache. */
  readonly folder: string;
  readonly bytes: number;
  isIntact(folder: string): Promise<boolean>;
  /** Fetches it into an empty folder. */
  fetch(folder: string): Promise<void>;
}

/**
 * The unpacked bundles and layers of versions, in a folder shared by many processes.
 *
 *   <content hash>/     the files of a bundle; `node_modules` is a link into its layer
 *   layers/<digest>/    `node_modules`, and its digests
 *   .sizes/  .users/    the size and last use of each entry; which process uses which
 *   .new/               entries being fetched or removed
 *   .lock/              held to record used entries and remove unused ones
 *
 * An entry appears by renaming a complete folder. It is also removed by renaming, under the lock, and only if no live process uses it.
 */
export class BundleCache {
  readonly #folder: string;
  readonly #limit: number;
  readonly #entries: Entries;
  readonly #users: Users;
  /** The entries used by each version that is open here. */
  readonly #open = new Map<string, readonly string[]>();
  /** The entries that were verified here, by name, with the marks of their files at that time. */
  readonly #verified = new Map<string, { readonly entry: RequiredEntry; readonly marks: Marks }>();
  #prepared: Promise<void> | undefined;

  /** `limit` in bytes. */
  constructor(folder: string, limit: number) {
    this.#folder = resolve(folder);
    this.#limit = limit;
    this.#entries = new Entries(join(this.#folder, '.sizes'));
    this.#users = new Users(join(this.#folder, '.users'));
  }

  /** Throws a FolderRefused if the folder cannot be used. */
  prepare(): Promise<void> {
    // Another process may have removed it in the meantime.
    if (!existsSync(this.#lock)) this.#prepared = undefined;
    this.#prepared ??= this.#prepare().catch((error: unknown) => {
      this.#prepared = undefined;
      throw explainFolder(error, this.#folder);
    });
    return this.#prepared;
  }

  /**
   * The folder of a version, with its packages for this platform. Fetches missing entries. Existing ones are verified, and fetched again if
   * they have changed. It is kept until `close`. Throws a CannotServe, or its subclass DiskFull.
   */
  async open(source: BundleSource, bundle: FetchedBundle, layer: BundleLayer | undefined): Promise<string> {
    await this.prepare();
    if (!/^[0-9a-f]{8,128}$/.test(bundle.contentHash))
      throw new CannotServe(`its content hash ${JSON.stringify(bundle.contentHash)} is invalid`);
    const required = [...(layer ? [this.#layer(source, bundle, layer)] : []), bundled(source, bundle, layer)];
    const names = required.map(({ folder }) => nameOf(folder));
    try {
      await this.#use(bundle.version, names);
      for (const entry of required) await this.#provide(entry);
    } catch (error) {
      // On a full disk, even this cannot be recorded, so the next call does it.
      await this.close([bundle.version]).catch(() => undefined);
      throw isFull(error) ? new DiskFull(this.#folder) : explainFolder(error, this.#folder);
    }
    return join(this.#folder, bundle.contentHash);
  }

  /**
   * Whether the files of an open version are unchanged since it was opened. Their content is read only if a file was lost, replaced or
   * modified since then.
   */
  async isIntact(version: string): Promise<boolean> {
    for (const name of this.#open.get(version) ?? []) {
      const known = this.#verified.get(name);
      if (!known) continue;
      const { entry, marks } = known;
      if ((await marks.hold(this.#folderOf(entry))) || (await this.#verify(entry))) continue;
      return false;
    }
    return true;
  }

  /** Marks these versions as no longer used here. */
  async close(versions: Iterable<string>): Promise<void> {
    for (const version of versions) this.#open.delete(version);
    const used = [...this.#open.values()].flat();
    for (const name of this.#verified.keys()) if (!used.includes(name)) this.#verified.delete(name);
    await this.#users.use(used);
  }

  async end(): Promise<void> {
    if (this.#prepared) await this.#users.end();
  }

  /** Whether the cache exceeds its limit. */
  async isOver(): Promise<boolean> {
    return total(await this.#entries.all()) > this.#limit;
  }

  /** Removes unused entries, least recently used first, until the cache is within the limit. */
  async makeRoom(limit = this.#limit): Promise<void> {
    const removed = await withLock(this.#lock, async () => {
      const entries = (await this.#entries.all()).toSorted((a, b) => a.usedAt - b.usedAt);
      let left = total(entries);
      if (left <= limit) return [];
      const used = new Set([...(await this.#users.living()).values()].flat());
      const gone: string[] = [];
      for (const { name, bytes } of entries) {
        if (left <= limit) break;
        if (used.has(name)) continue;
        gone.push(await this.#setAside(folderOf(name)));
        await this.#entries.remove(name);
        left -= bytes;
      }
      return gone;
    });
    for (const folder of removed) await rm(folder, { recursive: true, force: true });
  }

  get #lock(): string {
    return join(this.#folder, '.lock');
  }

  async #prepare(): Promise<void> {
    await makeFolder(this.#folder);
    for (const part of ['layers', '.sizes', '.users', '.new', '.lock'])
      await makeFolder(join(this.#folder, part));
    await this.#users.use([]);
    await this.#clearLeftovers();
  }

  /** Partial downloads of processes that were killed. */
  async #clearLeftovers(): Promise<void> {
    const folder = join(this.#folder, '.new');
    const names = await readdir(folder);
    const living = await this.#users.living();
    for (const name of names) {
      if (!living.has(name.slice(0, name.lastIndexOf('.'))))
        await rm(join(folder, name), { recursive: true, force: true });
    }
  }

  /** Under the lock, so that no process removes these entries between checking and marking their use. */
  async #use(version: string, names: readonly string[]): Promise<void> {
    await withLock(this.#lock, async () => {
      this.#open.set(version, names);
      await this.#users.use([...this.#open.values()].flat());
    });
  }

  async #provide(entry: RequiredEntry): Promise<void> {
    const folder = this.#folderOf(entry);
    const name = nameOf(entry.folder);
    if (existsSync(folder) && (await this.#verify(entry))) return this.#entries.touch(name);
    for (let times = 1; ; times += 1) {
      try {
        await this.#fetch(entry, folder, name);
        return;
      } catch (error) {
        if (error instanceof Damaged && times < tries) continue;
        if (error instanceof Damaged) throw new CannotServe(`${error.message} (fetched ${tries} times)`);
        if (!isFull(error) || times > 1) throw error;
        await this.makeRoom(0);
      }
    }
  }

  /** The marks are taken before the content is read, so that no change goes unnoticed in between. */
  async #verify(entry: RequiredEntry): Promise<boolean> {
    const folder = this.#folderOf(entry);
    const marks = await Marks.of(folder).catch(() => undefined);
    if (!marks || !(await entry.isIntact(folder))) return false;
    this.#verified.set(nameOf(entry.folder), { entry, marks });
    return true;
  }

  async #fetch(entry: RequiredEntry, folder: string, name: string): Promise<void> {
    const fresh = this.#newFolder();
    try {
      await mkdir(fresh);
      await entry.fetch(fresh);
      const marks = await Marks.of(fresh);
      await this.#entries.add(name, entry.bytes);
      await this.#moveIn(entry, fresh, folder);
      this.#verified.set(name, { entry, marks });
    } finally {
      await rm(fresh, { recursive: true, force: true });
    }
  }

  /** If another process fetches the same content concurrently, its copy is kept. */
  async #moveIn(entry: RequiredEntry, fresh: string, folder: string): Promise<void> {
    for (;;) {
      try {
        return await renameOver(fresh, folder);
      } catch (error) {
        if (!['ENOTEMPTY', 'EEXIST', 'EPERM'].includes(codeOf(error) ?? '') || !existsSync(folder))
          throw error;
      }
      if (await entry.isIntact(folder)) return;
      await rm(await this.#setAside(entry.folder), { recursive: true, force: true });
    }
  }

  /** Moves an entry out of its place. Returns its new path. */
  async #setAside(folder: string): Promise<string> {
    const aside = this.#newFolder();
    await renameOver(join(this.#folder, folder), aside).catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw error;
    });
    return aside;
  }

  #folderOf({ folder }: RequiredEntry): string {
    return join(this.#folder, folder);
  }

  #newFolder(): string {
    return join(this.#folder, '.new', `${this.#users.id}.${randomBytes(8).toString('hex')}`);
  }

  #layer(source: BundleSource, { version }: FetchedBundle, layer: BundleLayer): RequiredEntry {
    const listed = 'content.json';
    return {
      folder: join('layers', layer.digest),
      bytes: layer.size,
      async isIntact(folder) {
        try {
          const list: unknown = JSON.parse(await readFile(join(folder, listed), 'utf8'));
          return isDeepStrictEqual(list, await contentOf(join(folder, 'node_modules')));
        } catch {
          return false;
        }
      },
      async fetch(folder) {
        await unpackLayer(source, version, layer, folder);
        if (!existsSync(join(folder, 'node_modules')))
          throw new CannotServe('its package layer has no node_modules');
        await writeFile(join(folder, listed), JSON.stringify(await contentOf(join(folder, 'node_modules'))));
      },
    };
  }
}

const bundled = (
  source: BundleSource,
  bundle: FetchedBundle,
  layer: BundleLayer | undefined,
): RequiredEntry => ({
  folder: bundle.contentHash,
  bytes: bundle.files.reduce((sum, { size }) => sum + size, 0),
  isIntact: (folder) => isBundleIntact(folder, bundle.files, layer?.digest),
  fetch: (folder) => unpackBundle(source, bundle, layer?.digest, folder),
});

/** The name of an entry's size file; `folderOf` is the inverse. */
const nameOf = (folder: string): string => folder.replace(/^layers[\\/]/, 'layer-');
const folderOf = (name: string): string => name.replace(/^layer-/, join('layers', '/'));
const total = (entries: readonly { readonly bytes: number }[]): number =>
  entries.reduce((sum, { bytes }) => sum + bytes, 0);
