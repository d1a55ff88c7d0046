import type { Queryable, Sql } from '../db/connect.ts';
import { connect, type Database } from '../db/connect.ts';
import type { Clock } from '../db/clock.ts';
import { Direct } from '../db/direct.ts';
import type { Pooler } from '../db/pooler.ts';
import type { Wakes } from '../db/wake.ts';
import { createAppend, type Append } from './append.ts';
import { Hub, type Follower, type Following } from './hub.ts';
import type { ChannelKey } from './key.ts';
import { openChannels, type NewChannel } from './open.ts';
import { readRecords, readTails, type Records, type Tail } from './read.ts';
import { trimChannel } from './trim.ts';
import { createWrite } from './write.ts';
import { plainStatements } from './write-fast.ts';

/**
 * The log of records behind sessions and the streams of runs. Numbers begin at 0 and have no gap; what is acknowledged is durable;
 * readers of any process see all of it in order.
 */
export interface Channels {
  /** Makes channels that are not there. Appending to one that is not there is refused. */
  open(channels: readonly NewChannel[], within?: Queryable): Promise<void>;
  append: Append;
  /** At most 1,000 records and about 256 KiB from number `from` on. */
  read(key: ChannelKey, from: number, limit?: number): Promise<Records>;
  /** Undefined where there is no such channel. */
  tail(key: ChannelKey): Promise<Tail | undefined>;
  /** Drops the records before number `before`. */
  trim(key: ChannelKey, before: number): Promise<void>;
  /** Where following from number `from` on begins: there, or at the channel's end if that lies before. */
  place(key: ChannelKey, from: number): Promise<number>;
  /** Delivers the records from number `from` on and whatever comes; the channel need not be there yet. */
  follow(key: ChannelKey, from: number, follower: Follower): Following;
  /** Channels that are followed in this process. */
  readonly followed: number;
  /** How often a follower's page was read from the log. */
  readonly logReads: number;
  stop(): Promise<void>;
}

export interface ChannelsOptions {
  /** Without a pooler in transaction mode between: the writer's statements are prepared in its session. */
  readonly database: Database;
  readonly pooler?: Pooler | undefined;
  /** For reads; writes have connections of their own. */
  readonly sql: Sql;
  readonly clock: Clock;
  readonly wakes: Wakes;
}

/** Each row is fetched through its key: a plan that was made for empty tables would read them whole when they no longer are. */
const writerSettings = {
  plan_cache_mode: 'force_generic_plan',
  jit: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_seqscan: 'off',
  enable_memoize: 'off',
};

export function startChannels({ database, pooler, sql, clock, wakes }: ChannelsOptions): Channels {
  // Writes never wait behind the queries of requests.
  const settings = { name: 'millrace channels', settings: writerSettings, pooler };
  const writer = new Direct(database, settings, plainStatements);
  const careful = connect(database, { ...settings, max: 1 });
  const read = (key: ChannelKey, from: number, limit?: number) => readRecords(sql, key, from, limit);
  const hub = new Hub({ read, tails: (keys) => readTails(sql, keys), now: clock.now });
  wakes.listen((wake) => {
    if (wake.kind === 'channel') hub.heard(wake.channel);
  });
  return {
    open: (channels, within = sql) => openChannels(within, channels, new Date(clock.now())),
    append: createAppend(createWrite(writer, careful, clock.now), (key, records) => {
      hub.published(key, records);
      wakes.tell({ kind: 'channel', channel: key.id });
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
    place: (key, from) => hub.place(key, from),
    follow: (key, from, follower) => hub.follow(key, from, follower),
    get followed() {
      return hub.size;
    },
    get logReads() {
      return hub.pages.reads;
    },
    async stop() {
      hub.stop();
      await Promise.all([writer.end({ timeout: 5 }), careful.end({ timeout: 5 })]);
    },
  };
}
