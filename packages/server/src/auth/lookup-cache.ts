import { LRUCache } from 'lru-cache';
import { maxEntries } from '../max-entries.ts';

export interface LookupCacheOptions {
  /** The age in milliseconds after which an entry is no longer used. */
  readonly maxAgeMs: number;
  /** The age in milliseconds after which an entry is still used, but should be reloaded in the background. */
  readonly dueMs: number;
  readonly maxEntries: number;
}

export interface Loaded<V> {
  readonly value: V;
  /** When the lookup began (`performance.now()`). A later revocation may have been missed. */
  readonly asOf: number;
  /** Milliseconds after `asOf` when the value expires even without an event. */
  readonly endsInMs?: number | undefined;
}

interface Entry<V> {
  readonly value: V;
  readonly asOf: number;
  readonly due: number;
  readonly end: number;
}

/** Caches lookups for a short time, so that a revocation takes effect within `maxAgeMs`. */
export class LookupCache<V> {
  readonly #options: LookupCacheOptions;
  /** Read with `peek`, so that entries stay in insertion order. */
  readonly #entries: LRUCache<string, Entry<V>>;
  readonly #loading = new Map<string, Promise<Entry<V>>>();
  #clearedAt = -Infinity;

  constructor(options: LookupCacheOptions) {
    this.#options = options;
    this.#entries = new LRUCache(maxEntries(options.maxEntries));
  }

  get size(): number {
    return this.#entries.size;
  }

  find(key: string): Entry<V> | undefined {
    const entry = this.#entries.peek(key);
    return entry !== undefined && performance.now() < entry.end ? entry : undefined;
  }

  /** Whether the entry should be reloaded and no lookup is in progress. */
  isDue(key: string, entry: Entry<V>): boolean {
    return performance.now() >= entry.due && !this.#loading.has(key);
  }

  /** Concurrent calls share one look-up. A failed look-up removes the entry. */
  load(key: string, lookUp: () => Promise<Loaded<V>>): Promise<Entry<V>> {
    const inProgress = this.#loading.get(key);
    if (inProgress) return inProgress;
    const loading = this.#lookUp(key, lookUp);
    this.#loading.set(key, loading);
    return loading;
  }

  async #lookUp(key: string, lookUp: () => Promise<Loaded<V>>): Promise<Entry<V>> {
    const began = performance.now();
    try {
      return this.store(key, await lookUp());
    } catch (error) {
      this.#entries.delete(key);
      throw error;
    } finally {
      if (this.#clearedAt <= began) this.#loading.delete(key);
    }
  }

  /** Removes all entries and ignores the results of lookups in progress. Called when a credential has just been revoked. */
  clear(): void {
    this.#clearedAt = performance.now();
    this.#entries.clear();
    this.#loading.clear();
  }

  /** Stores a value that was not loaded by `load`. */
  store(key: string, { value, asOf, endsInMs = Infinity }: Loaded<V>): Entry<V> {
    const { maxAgeMs, dueMs } = this.#options;
    const entry = { value, asOf, due: asOf + dueMs, end: asOf + Math.min(maxAgeMs, endsInMs) };
    if (asOf < this.#clearedAt) return entry;
    this.#entries.set(key, entry);
    this.#dropExpired();
    return entry;
  }

  #dropExpired(): void {
    const now = performance.now();
    for (const key of this.#entries.rkeys()) {
      const oldest = this.#entries.peek(key);
      if (oldest === undefined || now < oldest.end) break;
      this.#entries.delete(key);
    }
  }
}
