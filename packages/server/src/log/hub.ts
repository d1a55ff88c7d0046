import { groupCommit } from '../db/group.ts';
import type { ChannelKey } from './key.ts';
import { Page } from './page.ts';
import { Pages } from './pages.ts';
import type { Records, Tail } from './read.ts';
import type { ChannelRecord } from './record.ts';

/** Who follows a channel. Called in order, each record once; never after `close`. */
export interface Follower {
  /** False: not now. Nothing more comes before `resume`. */
  deliver(page: Page): boolean;
  /** Everything that there was has been delivered: what comes from now on is new. Once. */
  caughtUp?(): void;
  /**
   * Nothing more will come, and everything that there was has been delivered: its run or session is over. Once, and nothing after it. Who
   * leaves this out goes on following.
   */
  ended?(): void;
  /** The channel is another one than it was, or cannot be read: what the follower has is all that it gets. */
  lost(reason: unknown): void;
}

export interface Following {
  /** The number of the record that it gets next. */
  readonly cursor: number;
  /** Whether everything that there is has been delivered, as far as is known here. */
  readonly live: boolean;
  resume(): void;
  close(): void;
}

export interface HubSources {
  read(key: ChannelKey, from: number): Promise<Records>;
  tails(keys: readonly ChannelKey[]): Promise<ReadonlyMap<string, Tail>>;
  /** Milliseconds since 1970. */
  now(): number;
}

const pollMs = 2_000;
const maxPolledAtOnce = 1_000;
/** A page that a reader waits for in vain is tried again so often. */
const readTries = 5;
const againMs = 300;

/** One channel that somebody follows. */
interface Spoke {
  readonly key: ChannelKey;
  readonly readers: Set<Reader>;
  /** What the next record's number will be, as far as is known here; undefined before the first look. */
  tail: number | undefined;
  /** Nothing comes after `tail`, as far as is known here. */
  over: boolean;
}

interface Reader extends Following {
  cursor: number;
  live: boolean;
  take(page: Page): void;
  advance(): void;
  /** It has everything, and nothing more will come. */
  finish(): void;
  lose(reason: unknown): void;
}

/**
 * Brings records to those who follow their channels. What is appended in this process comes at once; of other processes' appends it
 * is told (`heard`), and looks for itself every two seconds in case that was lost. The same look says when a channel is over.
 */
export class Hub {
  readonly #sources: HubSources;
  readonly #spokes = new Map<string, Spoke>();
  readonly pages: Pages;
  readonly #timer: NodeJS.Timeout;
  /** Those who ask while a look is under way share the next one: what that began with may be older than their question. */
  readonly #tailOf: (key: ChannelKey) => Promise<number>;

  constructor(sources: HubSources) {
    this.#sources = sources;
    this.#tailOf = groupCommit(async (keys) => {
      const byId = new Map(keys.map((key) => [key.id, key]));
      const tails = await sources.tails([...byId.values()]);
      return keys.map(({ id }) => tails.get(id)?.tail ?? 0);
    });
    this.pages = new Pages((key, from) => sources.read(key, from));
    this.#timer = setInterval(() => void this.#poll().catch(() => {}), pollMs);
    this.#timer.unref();
  }

  get size(): number {
    return this.#spokes.size;
  }

  /** Appended here and committed. */
  published(key: ChannelKey, records: readonly ChannelRecord[]): void {
    const spoke = this.#spokes.get(key.id);
    if (!spoke) return;
    const page = new Page(records);
    // Number n + 1 is never committed before n, so what lies between is there to be read.
    if (page.first !== spoke.tail) return this.#moved(spoke, page.next);
    this.pages.keep(key, page);
    spoke.over = false;
    spoke.tail = page.next;
    for (const reader of spoke.readers) if (reader.live) reader.take(page);
  }

  /** Another process appended to it. */
  heard(id: string): void {
    const spoke = this.#spokes.get(id);
    if (spoke) void this.#look([spoke]).catch(() => {});
  }

  /**
   * The number that a follower who asks for `from` on will get next, as of now: its own, or the channel's end if that lies before. Asked
   * first, it is told of everything that comes after the question.
   */
  async place(key: ChannelKey, from: number): Promise<number> {
    if (from <= (this.#spokes.get(key.id)?.tail ?? 0)) return from;
    return Math.min(from, await this.#tailOf(key));
  }

  /** Follows a channel from record `from` on, or from its end when that lies before. */
  follow(key: ChannelKey, from: number, follower: Follower): Following {
    let spoke = this.#spokes.get(key.id);
    if (!spoke) this.#spokes.set(key.id, (spoke = { key, readers: new Set(), tail: undefined, over: false }));
    const reader = this.#reader(spoke, from, follower);
    spoke.readers.add(reader);
    reader.advance();
    return reader;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#spokes.clear();
  }

  #reader(spoke: Spoke, from: number, follower: Follower): Reader {
    let open = true;
    let ready = true;
    let advancing = false;
    let fresh = true;

    const advance = async (): Promise<void> => {
      if (spoke.tail === undefined) await this.#firstLook(spoke);
      while (open && ready && !reader.live) {
        // A client may have heard from another process what this one has not heard of yet: only the log knows whether its number
        // lies beyond the end.
        if (fresh && reader.cursor > (spoke.tail ?? 0)) {
          await this.#look([spoke]);
          reader.cursor = Math.min(reader.cursor, spoke.tail ?? 0);
        }
        fresh = false;
        const tail = spoke.tail ?? 0;
        if (reader.cursor >= tail) {
          reader.live = true;
          follower.caughtUp?.();
          if (spoke.over) reader.finish();
          return;
        }
        const found = this.pages.at(spoke.key, reader.cursor, tail);
        const page = found instanceof Promise ? await found : found;
        if (!open) return;
        // All before it has been trimmed.
        if (typeof page === 'number') reader.cursor = page;
        else reader.take(page);
      }
    };

    const reader: Reader = {
      cursor: from,
      live: false,
      take(page) {
        if (page.next <= reader.cursor) return;
        const rest = page.from(reader.cursor);
        reader.cursor = rest.next;
        try {
          if (follower.deliver(rest)) return;
        } catch (error) {
          // Its own fault, and nobody else's: the others, and the writer, go on.
          reader.lose(error);
          return;
        }
        ready = false;
        reader.live = false;
      },
      advance() {
        if (advancing) return;
        advancing = true;
        void retried(advance)
          .catch((error: unknown) => reader.lose(error))
          .finally(() => {
            advancing = false;
            // It was resumed in the moment that this ended.
            if (open && ready && !reader.live) reader.advance();
          });
      },
      finish() {
        if (!open || !follower.ended) return;
        reader.close();
        follower.ended();
      },
      lose(reason) {
        if (!open) return;
        reader.close();
        follower.lost(reason);
      },
      resume() {
        if (ready || !open) return;
        ready = true;
        reader.advance();
      },
      close: () => {
        open = false;
        spoke.readers.delete(reader);
        if (spoke.readers.size > 0 || this.#spokes.get(spoke.key.id) !== spoke) return;
        this.#spokes.delete(spoke.key.id);
        // Nobody looks any more whether these are still the channel's records.
        this.pages.forget(spoke.key);
      },
    };
    return reader;
  }

  readonly #firstLooks = new Map<Spoke, Promise<void>>();

  async #firstLook(spoke: Spoke): Promise<void> {
    let look = this.#firstLooks.get(spoke);
    if (!look) {
      look = this.#look([spoke]).finally(() => this.#firstLooks.delete(spoke));
      this.#firstLooks.set(spoke, look);
    }
    await look;
  }

  /** The channel goes on to `tail`: whoever was at its end reads what came. */
  #moved(spoke: Spoke, tail: number): void {
    if (spoke.tail !== undefined && tail <= spoke.tail) return;
    spoke.over = false;
    spoke.tail = tail;
    for (const reader of spoke.readers) {
      reader.live = false;
      reader.advance();
    }
  }

  async #look(spokes: readonly Spoke[]): Promise<void> {
    const before = new Map(spokes.map((spoke) => [spoke, spoke.tail]));
    const tails = await this.#sources.tails(spokes.map(({ key }) => key));
    const now = this.#sources.now();
    for (const spoke of spokes) {
      const { tail, overAt } = tails.get(spoke.key.id) ?? { tail: 0, overAt: Infinity };
      const known = before.get(spoke);
      // Its log was deleted, and perhaps begun again.
      if (known !== undefined && tail < known) {
        this.pages.forget(spoke.key);
        for (const reader of spoke.readers) reader.lose(new Error('The channel has begun anew.'));
        continue;
      }
      this.#moved(spoke, tail);
      // Something has been appended here since the look.
      if (spoke.tail !== tail) continue;
      spoke.over = overAt <= now;
      if (spoke.over) for (const reader of spoke.readers) if (reader.live) reader.finish();
      if (!spoke.over && overAt - now < pollMs) this.#lookAgain(spoke, overAt - now);
    }
  }

  /** It is over in a moment, sooner than the next poll. */
  #lookAgain(spoke: Spoke, ms: number): void {
    const timer = setTimeout(() => {
      if (this.#spokes.get(spoke.key.id) === spoke) void this.#look([spoke]).catch(() => {});
    }, ms + 1);
    timer.unref();
  }

  async #poll(): Promise<void> {
    const spokes = [...this.#spokes.values()];
    for (let at = 0; at < spokes.length; at += maxPolledAtOnce)
      await this.#look(spokes.slice(at, at + maxPolledAtOnce));
  }
}

async function retried(act: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await act();
    } catch (error) {
      if (tries === readTries) throw error;
      await new Promise((resolve) => setTimeout(resolve, againMs * tries).unref());
    }
  }
}
