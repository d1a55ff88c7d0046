import type { ChannelKey } from './key.ts';
import { Page } from './page.ts';
import type { Records } from './read.ts';

/** Over all channels. */
const maxBytes = 32 * 1_048_576;
/** A page with a frame or two made of it is about three times its text. */
const frameFactor = 3;
const pageCost = 400;

/**
 * What was appended or read lately, page by page, bounded in bytes over all channels. A reader that asks for a page while it is being
 * read shares that read.
 */
export class Pages {
  readonly #read: (key: ChannelKey, from: number) => Promise<Records>;
  readonly #kept = new Map<string, { key: ChannelKey; page: Page; cost: number }>();
  readonly #names = new Map<string, Set<string>>();
  readonly #reading = new Map<string, Promise<Page | number>>();
  #cost = 0;
  /** How often the log was read. */
  reads = 0;

  constructor(read: (key: ChannelKey, from: number) => Promise<Records>) {
    this.#read = read;
  }

  keep(key: ChannelKey, page: Page): void {
    const name = `${key.id} ${page.first}`;
    this.#drop(name);
    const cost = page.bytes * frameFactor + pageCost;
    this.#kept.set(name, { key, page, cost });
    let names = this.#names.get(key.id);
    if (!names) this.#names.set(key.id, (names = new Set<string>()));
    names.add(name);
    this.#cost += cost;
    for (const oldest of this.#kept.keys()) {
      if (this.#cost <= maxBytes) break;
      this.#drop(oldest);
    }
  }

  /**
   * The page that begins with record `from`, or with a later one if that was trimmed; where all up to some number was, that number. `tail`
   * is the channel's, as far as is known. Whoever shares a read that began before that was known is told how far the read can have seen.
   */
  at(key: ChannelKey, from: number, tail: number): Page | Promise<Page | number> {
    const name = `${key.id} ${from}`;
    const kept = this.#kept.get(name);
    if (kept) return kept.page;
    let reading = this.#reading.get(name);
    if (!reading) {
      this.reads++;
      reading = this.#read(key, from)
        .then(({ records }) => {
          if (records.length === 0) return tail;
          const page = new Page(records);
          // Forgotten meanwhile, it may be of another life of the channel.
          if (this.#reading.get(name) === reading) this.keep(key, page);
          return page;
        })
        .finally(() => {
          if (this.#reading.get(name) === reading) this.#reading.delete(name);
        });
      this.#reading.set(name, reading);
    }
    return reading;
  }

  /** Forgets what is kept of a channel. */
  forget(key: ChannelKey): void {
    for (const name of this.#names.get(key.id) ?? []) this.#drop(name);
    for (const name of this.#reading.keys()) if (name.startsWith(key.id)) this.#reading.delete(name);
  }

  #drop(name: string): void {
    const kept = this.#kept.get(name);
    if (!kept) return;
    this.#cost -= kept.cost;
    this.#kept.delete(name);
    const names = this.#names.get(kept.key.id);
    names?.delete(name);
    if (names?.size === 0) this.#names.delete(kept.key.id);
  }
}
