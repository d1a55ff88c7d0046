import { onTestFinished } from 'vitest';
import { testDatabase } from '../../../../../test/support/database.ts';
import { startClock } from '../../db/clock.ts';
import { connect, type Database, type Sql } from '../../db/connect.ts';
import { startWakes, type Wakes } from '../../db/wake.ts';
import type { Log } from '../../logger.ts';
import { startChannels, type Channels } from '../channels.ts';
import type { Follower } from '../hub.ts';
import { runStream, type ChannelKey } from '../key.ts';
import type { NewRecord } from '../record.ts';

const quiet: Log = { info() {}, warn() {}, error() {} };
/** Notifications that never arrive. */
export const noWakes: Wakes = { notify() {}, listen() {}, async stop() {} };

export interface Store extends Channels {
  readonly sql: Sql;
  readonly database: Database;
  /** Starts another process on the same database. An isolated one gets no notifications. */
  replica(options?: { isolated?: boolean }): Promise<Channels>;
  /** Creates a channel. */
  channel(name?: string): Promise<ChannelKey>;
}

/** A channel store on a separate database, dropped when the test ends. */
export async function testStore(options: { isolated?: boolean } = {}): Promise<Store> {
  const { connection, drop } = await testDatabase();
  const stops: (() => unknown)[] = [];
  onTestFinished(async () => {
    for (const stop of stops.toReversed()) await stop();
    await drop();
  });
  const start = async (isIsolated: boolean) => {
    const sql = connect(connection, { name: 'test', max: 4 });
    const clock = await startClock(sql);
    const wakes = isIsolated ? noWakes : await startWakes(sql, quiet, clock);
    const channels = startChannels({ database: connection, sql, clock, wakes });
    stops.push(async () => {
      await channels.stop();
      await wakes.stop();
      clock.stop();
      await sql.end();
    });
    return { channels, sql };
  };
  const { channels, sql } = await start(options.isolated ?? true);
  let count = 0;
  return Object.assign(Object.create(channels) as Channels, {
    sql,
    database: connection,
    replica: async ({ isolated: isIsolated = true } = {}) => (await start(isIsolated)).channels,
    async channel(name = `stream-${++count}`) {
      const key = runStream(1, 'run_1', name);
      await channels.open([{ key }]);
      return key;
    },
  });
}

export const texts = (...bodies: string[]): NewRecord[] => bodies.map((body) => ({ body }));

/** Reads all records of a channel, page by page. */
export async function all(channels: Channels, key: ChannelKey, from = 0) {
  const records = [];
  for (let next = from; ;) {
    const page = await channels.read(key, next);
    if (page.records.length === 0) return records;
    records.push(...page.records);
    next = page.next;
  }
}

/** A follower that collects the records it receives. */
export function collector(more: Partial<Follower> = {}) {
  const seqs: number[] = [];
  const bodies: string[] = [];
  const follower: Follower = {
    deliver(page) {
      for (const { seq, body } of page.records) {
        seqs.push(seq);
        bodies.push(body);
      }
      return true;
    },
    lost() {},
    ...more,
  };
  return { seqs, bodies, follower };
}

/** A promise that a test waits for, and the function that resolves it. */
export function gate() {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}
