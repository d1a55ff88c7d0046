import type { Clock } from '../db/clock.ts';
import { connect, type Queryable, type Sql } from '../db/connect.ts';
import type { Database, Pooler } from '../db/database.ts';
import { DedicatedConnection } from '../db/dedicated.ts';
import type { Wakes } from '../db/wake.ts';
import { createAppend, type Append } from './append.ts';
import { Hub, type Follower, type Following } from './hub.ts';
import type { ChannelKey } from './key.ts';
import { openChannels, type NewChannel } from './open.ts';
import { readRecords, readTails, type Records, type Tail } from './read.ts';
import { trimChannel } from './trim.ts';
import { createWrite } from './write.ts';
import { fastStatements } from './write-fast.ts';

/**
 * The log behind sessions and the streams of runs: append-only channels of records. Sequence numbers start at 0 and have no gaps.
 * Acknowledged records are durable, and readers in every process receive all of them in order.
 */
export interface Channels {
  /** Creates missing channels. Appends to a missing channel are rejected. */
  open(channels: readonly NewChannel[], within?: Queryable): Promise<void>;
  append: Append;
  /** Up to 1,000 records and about 256 KiB, starting at number `from`. */
  read(key: ChannelKey, from: number, limit?: number): Promise<Records>;
  /** Undefined if the channel does not exist. */
  tail(key: ChannelKey): Promise<Tail | undefined>;
  /** Drops the records before number `before`. */
  trim(key: ChannelKey, before: number): Promise<void>;
  /** The position at which following from number `from` starts: there, or at the channel's end if that is lower. */
  cursorFor(key: ChannelKey, from: number): Promise<number>;
  /** Delivers the records starting at number `from`, then new ones. The channel need not exist yet. */
  follow(key: ChannelKey, from: number, follower: Follower): Following;
  /** Number of channels followed in this process. */
  readonly followed: number;
  /** Number of pages read for followers. */
  readonly logReads: number;
  stop(): Promise<void>;
}

export interface ChannelsOptions {
  /** Must not use a pooler in transaction mode, because the writer prepares statements in its session. */
  readonly database: Database;
  readonly pooler?: Pooler | undefined;
  /** For reads. Writes have separate connections. */
  readonly sql: Sql;
  readonly clock: Clock;
  readonly wakes: Wakes;
}

/** Read each row by its key, so that a plan made while a table is empty does not scan it once it has grown. */
export const writerSettings = {
  plan_cache_mode: 'force_generic_plan',
  jit: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_seqscan: 'off',
  enable_memoize: 'off',
};

export function startChannels({ database, pooler, sql, clock, wakes }: ChannelsOptions): Channels {
  // Writes do not queue behind the queries of requests.
  const settings = { name: 'millrace channels', settings: writerSettings, pooler };
  const fast = new DedicatedConnection(database, settings, fastStatements);
  const conditional = connect(database, { ...settings, max: 1, kind: 'engine' });
  const read = (key: ChannelKey, from: number, limit?: number) => readRecords(sql, key, from, limit);
  const hub = new Hub({ read, tails: (keys) => readTails(sql, keys), now: clock.now });
  wakes.listen((wake) => {
    if (wake.kind === 'channel') hub.appendedElsewhere(wake.channel);
  });
  return {
    open: (channels, within = sql) => openChannels(within, channels, new Date(clock.now())),
    append: createAppend(createWrite(fast, conditional, clock.now), (key, records) => {
      hub.appendedHere(key, records);
      wakes.notify({ kind: 'channel', channel: key.id });
    }),
    read,
    async tail(key) {
      const tail = (await readTails(sql, [key])).get(key.id);
      return tail?.exists ? tail : undefined;
    },
    async trim(key, before) {
      await trimChannel(sql, key, before);
      hub.pages.forget(key);
    },
    cursorFor: (key, from) => hub.cursorFor(key, from),
    follow: (key, from, follower) => hub.follow(key, from, follower),
    get followed() {
      return hub.size;
    },
    get logReads() {
      return hub.pages.reads;
    },
    async stop() {
      hub.stop();
      await Promise.all([fast.end({ timeout: 5 }), conditional.end({ timeout: 5 })]);
    },
  };
}
