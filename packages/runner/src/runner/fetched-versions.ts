import type { RunnerProperties } from '@millrace/contract/runner';
import { CannotServe, DiskFull, type BundleCache, type BundleSource } from '../bundle-cache/index.ts';
import type { ServedBuild } from './served-build.ts';

export interface FetchedVersionsOptions {
  readonly cache: BundleCache;
  readonly source: BundleSource;
  readonly properties: RunnerProperties;
  /** Versions that attempts or processes of this runner use. */
  readonly inUse: () => ReadonlySet<string>;
  /** Starts a process of a version. Returns the reason why it ended while it imported the task files, or undefined. */
  readonly start: (version: string) => Promise<string | undefined>;
  /** Called when the set of executable versions has changed. */
  readonly onChange: () => void;
  /** A version was fetched and is being served. */
  readonly onLoaded: (version: string, took: number) => void;
  /** Files of a version in the cache were lost or changed, so it is reloaded. */
  readonly onDamaged: (version: string) => void;
  readonly onUnable: (version: string, why: string) => void;
}

/** Deployed versions that this runner has fetched. They are loaded when the server requests it, or when a run of them arrives. */
export class FetchedVersions {
  readonly #options: FetchedVersionsOptions;
  readonly #loaded = new Map<string, ServedBuild>();
  readonly #loading = new Map<string, Promise<boolean>>();
  /** Processes that start at the same time share one check of their files. */
  readonly #checks = new Map<string, Promise<boolean>>();
  /** The versions that the server has requested to be ready. */
  #warm: readonly string[] = [];
  #ended = false;

  constructor(options: FetchedVersionsOptions) {
    this.#options = options;
  }

  get names(): string[] {
    return [...this.#loaded.keys()];
  }

  /** The versions that the server has requested to be ready and that are loaded. */
  get warm(): string[] {
    return this.#warm.filter((version) => this.#loaded.has(version));
  }

  /** The versions being fetched. */
  get loading(): string[] {
    return [...this.#loading.keys()];
  }

  build(version: string): ServedBuild | undefined {
    return this.#loaded.get(version);
  }

  /** Loads these versions and keeps them ready, the most important one first. */
  async keep(versions: readonly string[]): Promise<void> {
    this.#warm = versions;
    for (const version of versions) {
      if (!this.#ended && !this.#loaded.has(version)) await this.load(version);
    }
  }

  /** Fetches a version. Returns false if this runner cannot execute it, in which case the server has been notified of the reason. */
  load(version: string): Promise<boolean> {
    const under = this.#loading.get(version);
    if (under) return under;
    const loading = this.#load(version).finally(() => this.#loading.delete(version));
    this.#loading.set(version, loading);
    return loading;
  }

  /** Whether its files are unchanged since it was loaded. Undefined for a version that is not loaded. */
  isIntact(version: string): Promise<boolean> | undefined {
    if (!this.#loaded.has(version)) return undefined;
    const under = this.#checks.get(version);
    if (under) return under;
    const check = this.#options.cache
      .isIntact(version)
      .catch(() => false)
      .finally(() => this.#checks.delete(version));
    this.#checks.set(version, check);
    return check;
  }

  /**
   * Loads a version again if its files in the cache were lost or changed. Returns false if this runner can no longer execute it, in which
   * case the server has been notified of the reason.
   */
  async repair(version: string): Promise<boolean> {
    const loading = this.#loading.get(version);
    if (loading) return loading;
    if (!this.#loaded.has(version) || (await this.isIntact(version))) return true;
    if (!this.#loading.has(version)) this.#options.onDamaged(version);
    return this.load(version);
  }

  async end(): Promise<void> {
    this.#ended = true;
    await this.#options.cache.end();
  }

  async #load(version: string): Promise<boolean> {
    const { start, onChange, onLoaded, onUnable } = this.#options;
    const startedAt = performance.now();
    try {
      const build = await this.#fetch(version).catch(async (error: unknown) => {
        // An idle version is fetched again when one of its runs arrives.
        if (!(error instanceof DiskFull) || !(await this.#giveUpIdle())) throw error;
        return this.#fetch(version);
      });
      if (this.#ended) return false;
      this.#loaded.set(version, build);
      const failed = await start(version);
      if (failed !== undefined) throw new CannotServe(failed);
    } catch (error) {
      if (this.#ended) return false;
      await this.#options.cache.close([version]).catch(() => undefined);
      // Attempts that wait for it are returned to the server in the same tick of the event loop.
      const wasLoaded = this.#loaded.delete(version);
      onUnable(version, error instanceof Error ? error.message : String(error));
      if (wasLoaded) onChange();
      return false;
    }
    onChange();
    onLoaded(version, Math.round(performance.now() - startedAt));
    void this.#makeRoom().catch(() => undefined);
    return true;
  }

  async #fetch(version: string): Promise<ServedBuild> {
    const { cache, source, properties } = this.#options;
    const bundle = await source.bundle(version);
    const { contentHash, entries, tasks, defaults, sdk, layers, nodeMajor, requires } = bundle;
    // The server does not offer incompatible versions. An older server might.
    if (nodeMajor > properties.nodeMajor)
      throw new CannotServe(`it needs Node.js ${nodeMajor}, but this runner has ${properties.nodeMajor}`);
    const missing = requires.filter((label) => !properties.labels.includes(label));
    if (missing.length > 0)
      throw new CannotServe(`this runner does not have the label ${missing.join(', ')}`);
    const layer = layers.find(({ platform }) => platform === properties.platform);
    if (layers.length > 0 && !layer)
      throw new CannotServe(
        `its packages are for ${layers.map(({ platform }) => platform).join(', ')}, but this runner is ${properties.platform}`,
      );
    const dir = await cache.open(source, bundle, layer);
    return { hash: contentHash, dir, entries, tasks, defaults, sdk };
  }

  /** When the cache exceeds its limit, idle versions are dropped; they are fetched again when one of their runs arrives. */
  async #makeRoom(): Promise<void> {
    const { cache } = this.#options;
    if (!(await cache.isOver())) return;
    await this.#giveUpIdle();
    await cache.makeRoom();
  }

  /** Returns whether there were any. */
  async #giveUpIdle(): Promise<boolean> {
    const { cache, inUse, onChange } = this.#options;
    const needed = new Set([...inUse(), ...this.#warm, ...this.#loading.keys()]);
    const idle = this.names.filter((version) => !needed.has(version));
    for (const version of idle) this.#loaded.delete(version);
    if (idle.length > 0) onChange();
    await cache.close(idle);
    return idle.length > 0;
  }
}
