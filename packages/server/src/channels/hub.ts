import { background } from '../background.ts';
import { groupCommit } from '../db/group.ts';
import { retry } from '../db/retry.ts';
import type { ChannelKey } from './key.ts';
import { Page } from './page.ts';
import { Pages } from './pages.ts';
import type { Records, Tail } from './read.ts';
import type { ChannelRecord } from './record.ts';

/** A reader of a channel. Called in order, once for each record; never after `close`. */
export interface Follower {
  /** False means stop for now: nothing more is delivered before `resume`. */
  deliver(page: Page): boolean;
  /** All stored records have been delivered; later records are new. Called once. */
  caughtUp?(): void;
  /**
   * The run or session has ended and everything has been delivered. Called once, as the last call. A follower without this method continues
   * to follow.
   */
  ended?(): void;
  /** The channel was deleted or cannot be read. Nothing more is delivered. */
  lost(reason: unknown): void;
}

export interface Following {
  /** The number of the next record to deliver. */
  readonly cursor: number;
  /** Whether all records that this process knows of have been delivered. */
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
/** How often a page is read again for a reader that waits for it. */
const maxReadTries = 5;
const retryMs = 300;

interface FollowedChannel {
  readonly key: ChannelKey;
  readonly readers: Set<Reader>;
  /** The number of the next record, as far as this process knows; undefined before the first read. */
  tail: number | undefined;
  /** Whether no records follow `tail`, as far as this process knows. */
  hasEnded: boolean;
}

interface Reader extends Following {
  cursor: number;
  live: boolean;
  take(page: Page): void;
  advance(): void;
  /** Ends the follower, which has received everything; no more records will follow. */
  finish(): void;
  lose(reason: unknown): void;
}

/**
 * Delivers records to the followers of channels. Appends of this process are delivered immediately. Other processes announce theirs
 * (`appendedElsewhere`); a poll every two seconds finds appends whose announcement was lost, and channels that have ended.
 */
export class Hub {
  readonly #sources: HubSources;
  readonly #channels = new Map<string, FollowedChannel>();
  readonly pages: Pages;
  readonly #stopPolling: () => void;
  /** Calls during a read share the next one: the snapshot of the read in progress may be older than the call. */
  readonly #tailOf: (key: ChannelKey) => Promise<number>;
  readonly #firstReads = new Map<FollowedChannel, Promise<void>>();

  constructor(sources: HubSources) {
    this.#sources = sources;
    this.#tailOf = groupCommit(async (keys) => {
      const byId = new Map(keys.map((key) => [key.id, key]));
      const tails = await sources.tails([...byId.values()]);
      return keys.map(({ id }) => tails.get(id)?.tail ?? 0);
    });
    this.pages = new Pages((key, from) => sources.read(key, from));
    // If a poll fails, the next one catches up.
    this.#stopPolling = background(
      pollMs,
      () => this.#poll(),
      () => {},
    );
  }

  /** Number of channels followed. */
  get size(): number {
    return this.#channels.size;
  }

  /** Called with the records that this process appended, after the commit. */
  appendedHere(key: ChannelKey, records: readonly ChannelRecord[]): void {
    const channel = this.#channels.get(key.id);
    if (!channel) return;
    const page = new Page(records);
    // Record n + 1 never commits before n, so the records before this page can be read.
    if (page.first !== channel.tail) return this.#moveTail(channel, page.next);
    this.pages.store(key, page);
    channel.hasEnded = false;
    channel.tail = page.next;
    for (const reader of channel.readers) if (reader.live) reader.take(page);
  }

  /** Called when another process announces an append. */
  appendedElsewhere(id: string): void {
    const channel = this.#channels.get(id);
    if (channel) void this.#readTails([channel]).catch(() => {});
  }

  /**
   * The cursor for following from number `from`: `from`, or the channel's end if that is lower. A follower that calls this first receives all
   * records appended after its call.
   */
  async cursorFor(key: ChannelKey, from: number): Promise<number> {
    if (from <= (this.#channels.get(key.id)?.tail ?? 0)) return from;
    return Math.min(from, await this.#tailOf(key));
  }

  /** Follows a channel from record `from`, or from its end if that is lower. */
  follow(key: ChannelKey, from: number, follower: Follower): Following {
    let channel = this.#channels.get(key.id);
    if (!channel) {
      channel = { key, readers: new Set(), tail: undefined, hasEnded: false };
      this.#channels.set(key.id, channel);
    }
    const reader = this.#createReader(channel, from, follower);
    channel.readers.add(reader);
    reader.advance();
    return reader;
  }

  stop(): void {
    this.#stopPolling();
    this.#channels.clear();
  }

  #createReader(channel: FollowedChannel, from: number, follower: Follower): Reader {
    let isOpen = true;
    let isReady = true;
    let isAdvancing = false;
    let isFirst = true;

    const advance = async (): Promise<void> => {
      if (channel.tail === undefined) await this.#readFirstTail(channel);
      while (isOpen && isReady && !reader.live) {
        // The client may have received this number from a process that is ahead of this one, so read the tail before lowering the number.
        if (isFirst && reader.cursor > (channel.tail ?? 0)) {
          await this.#readTails([channel]);
          reader.cursor = Math.min(reader.cursor, channel.tail ?? 0);
        }
        isFirst = false;
        const tail = channel.tail ?? 0;
        if (reader.cursor >= tail) {
          reader.live = true;
          follower.caughtUp?.();
          if (channel.hasEnded) reader.finish();
          return;
        }
        const found = this.pages.at(channel.key, reader.cursor, tail);
        const page = found instanceof Promise ? await found : found;
        if (!isOpen) return;
        // A number means that the records before it were trimmed.
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
          // A follower that throws must not affect the others or the writer.
          reader.lose(error);
          return;
        }
        isReady = false;
        reader.live = false;
      },
      advance() {
        if (isAdvancing) return;
        isAdvancing = true;
        void retry(advance, { maxTries: maxReadTries, delayMs: (tries) => retryMs * tries })
          .catch((error: unknown) => reader.lose(error))
          .finally(() => {
            isAdvancing = false;
            // `resume` was called just before this ended.
            if (isOpen && isReady && !reader.live) reader.advance();
          });
      },
      finish() {
        if (!isOpen || !follower.ended) return;
        reader.close();
        follower.ended();
      },
      lose(reason) {
        if (!isOpen) return;
        reader.close();
        follower.lost(reason);
      },
      resume() {
        if (isReady || !isOpen) return;
        isReady = true;
        reader.advance();
      },
      close: () => {
        isOpen = false;
        channel.readers.delete(reader);
        if (channel.readers.size > 0 || this.#channels.get(channel.key.id) !== channel) return;
        this.#channels.delete(channel.key.id);
        // Without followers, nothing detects that a channel is deleted and recreated.
        this.pages.forget(channel.key);
      },
    };
    return reader;
  }

  async #readFirstTail(channel: FollowedChannel): Promise<void> {
    let read = this.#firstReads.get(channel);
    if (!read) {
      read = this.#readTails([channel]).finally(() => this.#firstReads.delete(channel));
      this.#firstReads.set(channel, read);
    }
    await read;
  }

  /** The channel now ends at `tail`, so readers that were at its end read the new records. */
  #moveTail(channel: FollowedChannel, tail: number): void {
    if (channel.tail !== undefined && tail <= channel.tail) return;
    channel.hasEnded = false;
    channel.tail = tail;
    for (const reader of channel.readers) {
      reader.live = false;
      reader.advance();
    }
  }

  async #readTails(channels: readonly FollowedChannel[]): Promise<void> {
    const before = new Map(channels.map((channel) => [channel, channel.tail]));
    const tails = await this.#sources.tails(channels.map(({ key }) => key));
    const now = this.#sources.now();
    for (const channel of channels) {
      const { tail, endsAt } = tails.get(channel.key.id) ?? { tail: 0, endsAt: Infinity };
      const known = before.get(channel);
      // The channel was deleted, and possibly recreated.
      if (known !== undefined && tail < known) {
        this.pages.forget(channel.key);
        for (const reader of channel.readers)
          reader.lose(new Error('The channel was deleted or re-created.'));
        continue;
      }
      this.#moveTail(channel, tail);
      // This process has appended records since the read.
      if (channel.tail !== tail) continue;
      channel.hasEnded = endsAt <= now;
      if (channel.hasEnded) for (const reader of channel.readers) if (reader.live) reader.finish();
      if (!channel.hasEnded && endsAt - now < pollMs) this.#readTailIn(channel, endsAt - now);
    }
  }

  /** For a channel that ends before the next poll. */
  #readTailIn(channel: FollowedChannel, ms: number): void {
    const timer = setTimeout(() => {
      if (this.#channels.get(channel.key.id) === channel) void this.#readTails([channel]).catch(() => {});
    }, ms + 1);
    timer.unref();
  }

  async #poll(): Promise<void> {
    const channels = [...this.#channels.values()];
    for (let index = 0; index < channels.length; index += maxPolledAtOnce)
      await this.#readTails(channels.slice(index, index + maxPolledAtOnce));
  }
}
