import { LRUCache } from 'lru-cache';
import type { ChannelKey } from './key.ts';
import { Page } from './page.ts';
import type { Records } from './read.ts';

/** The limit for all channels together. */
const maxBytes = 32 * 1_048_576;
/** A page and its frames take about three times the bytes of its text, plus a fixed cost. */
const frameFactor = 3;
const pageCost = 400;

interface CachedPage {
  readonly key: ChannelKey;
  readonly page: Page;
}

/** Caches the most recently appended or read pages of all channels. Readers that request the same page share one read. */
export class Pages {
  readonly #read: (key: ChannelKey, from: number) => Promise<Records>;
  readonly #pages = new LRUCache<string, CachedPage>({
    maxSize: maxBytes,
    sizeCalculation: ({ page }) => page.bytes * frameFactor + pageCost,
    dispose: (cached, name, reason) => {
      if (reason !== 'set') this.#removeName(cached.key.id, name);
    },
  });
  /** The names of the cached pages of each channel. */
  readonly #names = new Map<string, Set<string>>();
  readonly #reading = new Map<string, Promise<Page | number>>();
  /** How often the log was read. */
  reads = 0;

  constructor(read: (key: ChannelKey, from: number) => Promise<Records>) {
    this.#read = read;
  }

  store(key: ChannelKey, page: Page): void {
    const name = `${key.id} ${page.first}`;
    let names = this.#names.get(key.id);
    if (!names) this.#names.set(key.id, (names = new Set<string>()));
    names.add(name);
    this.#pages.set(name, { key, page });
    // A page larger than the cache is not stored.
    if (!this.#pages.has(name)) this.#removeName(key.id, name);
  }

  /**
   * The page that begins with record `from`, or with a later one if that was trimmed. If all records up to some number were trimmed,
   * returns that number. `tail` is the channel's tail as far as known, which bounds the records that an empty read can have missed.
   */
  at(key: ChannelKey, from: number, tail: number): Page | Promise<Page | number> {
    const name = `${key.id} ${from}`;
    const cached = this.#pages.get(name);
    if (cached) return cached.page;
    let reading = this.#reading.get(name);
    if (!reading) {
      this.reads++;
      reading = this.#read(key, from)
        .then(({ records }) => {
          if (records.length === 0) return tail;
          const page = new Page(records);
          // If it was removed during the read, the channel may have been deleted and recreated.
          if (this.#reading.get(name) === reading) this.store(key, page);
          return page;
        })
        .finally(() => {
          if (this.#reading.get(name) === reading) this.#reading.delete(name);
        });
      this.#reading.set(name, reading);
    }
    return reading;
  }

  /** Removes the pages of a channel from the cache. */
  forget(key: ChannelKey): void {
    for (const name of this.#names.get(key.id) ?? []) this.#pages.delete(name);
    for (const name of this.#reading.keys()) if (name.startsWith(key.id)) this.#reading.delete(name);
  }

  #removeName(channel: string, name: string): void {
    const names = this.#names.get(channel);
    names?.delete(name);
    if (names?.size === 0) this.#names.delete(channel);
  }
}
