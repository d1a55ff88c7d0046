/** What was looked up a moment ago: bounded in age and in number, so that a revocation is in force within the age. */
export interface RecentOptions {
  /** An entry older than this many milliseconds is never used. */
  readonly maxAgeMs: number;
  /** An entry older than this is still used, but is due to be looked up again beside the request. */
  readonly dueMs: number;
  readonly maxEntries: number;
}

export interface Loaded<V> {
  readonly value: V;
  /** When the look-up began (`performance.now()`): a revocation after that may have been missed. */
  readonly asOf: number;
  /** Milliseconds after `asOf` at which the value ends of itself. */
  readonly endsInMs?: number | undefined;
}

interface Entry<V> {
  readonly value: V;
  readonly asOf: number;
  readonly due: number;
  readonly end: number;
}

export class Recent<V> {
  readonly #options: RecentOptions;
  readonly #entries = new Map<string, Entry<V>>();
  readonly #loading = new Map<string, Promise<Entry<V>>>();
  #forgotten = -Infinity;

  constructor(options: RecentOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  find(key: string): Entry<V> | undefined {
    const entry = this.#entries.get(key);
    return entry !== undefined && performance.now() < entry.end ? entry : undefined;
  }

  /** Whether it is time to `load` the entry again, which nobody does yet. */
  isDue(key: string, entry: Entry<V>): boolean {
    return performance.now() >= entry.due && !this.#loading.has(key);
  }

  /** Calls that come while the look-up is under way share it. One that fails forgets what was known. */
  load(key: string, look: () => Promise<Loaded<V>>): Promise<Entry<V>> {
    const underWay = this.#loading.get(key);
    if (underWay) return underWay;
    const loading = this.#look(key, look);
    this.#loading.set(key, loading);
    return loading;
  }

  async #look(key: string, look: () => Promise<Loaded<V>>): Promise<Entry<V>> {
    const began = performance.now();
    try {
      return this.keep(key, await look());
    } catch (error) {
      this.#entries.delete(key);
      throw error;
    } finally {
      if (this.#forgotten <= began) this.#loading.delete(key);
    }
  }

  /** Keeps nothing of what it knows, nor of look-ups that are under way: something has just ended. */
  forget(): void {
    this.#forgotten = performance.now();
    this.#entries.clear();
    this.#loading.clear();
  }

  /** Keeps what was found out otherwise than by `load`. */
  keep(key: string, { value, asOf, endsInMs = Infinity }: Loaded<V>): Entry<V> {
    const { maxAgeMs, dueMs } = this.#options;
    const entry = { value, asOf, due: asOf + dueMs, end: asOf + Math.min(maxAgeMs, endsInMs) };
    if (asOf < this.#forgotten) return entry;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    this.#drop();
    return entry;
  }

  /** A map keeps the order of insertion, so the oldest entries come first. */
  #drop(): void {
    const now = performance.now();
    for (const [key, entry] of this.#entries) {
      if (now < entry.end && this.#entries.size <= this.#options.maxEntries) break;
      this.#entries.delete(key);
    }
  }
}
