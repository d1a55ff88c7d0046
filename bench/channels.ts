/**
 * The cost of channels compared with Redis Streams with appendfsync always, in alternating rounds:
 * `node bench/channels.ts [append] [deliver] [fan] [idle] [--rounds 5] [--seconds 3] [--cpu-prof]`.
 *
 * append   128 callers in one process, one record of 100 characters per call: the store over a Unix socket against XADD over one
 * deliver  from the call that appends to its arrival at each of 1, 100 and 1,000 subscribers: HTTP and event-streams against XADD and XREAD
 * fan      1,000 subscribers of one session, 25 records a second
 * idle     memory of a server process with 10,000 subscribers, each of a separate session, that receive nothing
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { Session } from 'node:inspector/promises';
import { mkdirSync, writeFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { startChannels, type Channels } from '../packages/server/src/channels/channels.ts';
import { runStream } from '../packages/server/src/channels/key.ts';
import { startClock } from '../packages/server/src/db/clock.ts';
import { connect } from '../packages/server/src/db/connect.ts';
import { migrate } from '../packages/server/src/db/migrate.ts';
import { startDatabases, type Databases } from './src/postgres.ts';
import { startRedis, type RunningRedis } from './src/redis.ts';
import { median, percentile, rounded } from './src/statistics.ts';
import { subscribeByHttp, subscribeByRedis, type OnRecord, type Subscribed } from './src/subscribers.ts';

const args = process.argv.slice(2);
const option = (name: string, fallback: number): number => {
  const at = args.indexOf(`--${name}`);
  return at === -1 ? fallback : Number(args[at + 1]);
};
const rounds = option('rounds', 5);
const seconds = option('seconds', 3);
const idleSubscribers = option('idle-subscribers', 10_000);
const parts = args.filter((word) => /^[a-z]+$/.test(word));
const isSelected = (part: string): boolean => parts.length === 0 || parts.includes(part);
const callers = 128;
const text = 'x'.repeat(100);
/** Warm-up deliveries. */
const warmUps = 1_500;

interface Rate {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly cpuUs: number;
}

/** Callers that append one record after the other. */
async function rate(append: (caller: number) => Promise<unknown>, ms = seconds * 1_000): Promise<Rate> {
  const took: number[] = [];
  const cpu = process.cpuUsage();
  const began = performance.now();
  const until = began + ms;
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      for (let now = performance.now(); now < until;) {
        await append(caller);
        const at = performance.now();
        took.push(at - now);
        now = at;
      }
    }),
  );
  const { user, system } = process.cpuUsage(cpu);
  const perSecond = (took.length / (performance.now() - began)) * 1_000;
  return { perSecond, p50Ms: percentile(took, 50) ?? 0, cpuUs: (user + system) / took.length };
}

const ratio = (rows: readonly { ours: number; theirs: number }[]): string => {
  const ratios = rows.map(({ ours, theirs }) => ours / theirs);
  return `${rounded(median(ratios))} (${rounded(Math.min(...ratios))}–${rounded(Math.max(...ratios))})`;
};

async function openStore(address: string): Promise<{ channels: Channels; stop(): Promise<void> }> {
  const sql = connect(address, { name: 'bench' });
  await migrate(sql);
  const clock = await startClock(sql);
  const wakes = { notify() {}, listen() {}, async stop() {} };
  const channels = startChannels({ database: address, sql, clock, wakes });
  return {
    channels,
    async stop() {
      await channels.stop();
      clock.stop();
      await sql.end();
    },
  };
}

async function measureAppends(databases: Databases, redis: RunningRedis): Promise<void> {
  const client = new Redis({ path: redis.path });
  const spreads = [1, 16, 128];
  const results = new Map<string, { ours: Rate; theirs: Rate }[]>();
  const profiler = args.includes('--cpu-prof') ? new Session() : undefined;
  for (let round = 0; round < rounds; round++) {
    for (const spread of spreads) {
      for (const withParts of [false, true]) {
        const store = await openStore(await databases.fresh('bench_channels'));
        const keys = Array.from({ length: spread }, (_, n) => runStream(1, 'run_bench', `${n}`));
        await store.channels.open(keys.map((key) => ({ key })));
        let part = 0;
        const append = (caller: number) =>
          store.channels.append(
            keys[caller % spread] as (typeof keys)[number],
            [{ body: text }],
            withParts ? { partId: `${round}-${spread}-${part++}` } : {},
          );
        await rate(append, 500);
        if (profiler && round === 0 && !withParts) {
          profiler.connect();
          await profiler.post('Profiler.enable');
          await profiler.post('Profiler.start');
        }
        const ours = await rate(append);
        if (profiler && round === 0 && !withParts) {
          const { profile } = await profiler.post('Profiler.stop');
          mkdirSync(new URL('profiles', import.meta.url), { recursive: true });
          writeFileSync(
            new URL(`profiles/channels-${spread}.cpuprofile`, import.meta.url),
            JSON.stringify(profile),
          );
          profiler.disconnect();
        }
        await store.stop();
        await client.flushall();
        const xadd = (caller: number) => client.xadd(`s${caller % spread}`, '*', 'body', text);
        await rate(xadd, 500);
        const theirs = await rate(xadd);
        const name = `${spread} channel${spread > 1 ? 's' : ''}${withParts ? ', part ids' : ''}`;
        results.set(name, [...(results.get(name) ?? []), { ours, theirs }]);
      }
    }
  }
  client.disconnect();
  console.log(`\nappend: ${callers} callers, records a second, median of ${rounds}`);
  for (const [name, rows] of results) {
    const of = (pick: (rate: Rate) => number, who: 'ours' | 'theirs') =>
      rounded(median(rows.map((row) => pick(row[who]))));
    console.log(
      `  ${name}: ours ${of((r) => r.perSecond, 'ours')}/s (p50 ${of((r) => r.p50Ms, 'ours')} ms, ${of((r) => r.cpuUs, 'ours')} µs of Node), ` +
        `Redis ${of((r) => r.perSecond, 'theirs')}/s (p50 ${of((r) => r.p50Ms, 'theirs')} ms, ${of((r) => r.cpuUs, 'theirs')} µs); ` +
        `ours ÷ Redis ${ratio(rows.map(({ ours, theirs }) => ({ ours: ours.perSecond, theirs: theirs.perSecond })))}`,
    );
  }
}

interface Served {
  readonly port: number;
  readonly secretKey: string;
  readonly post: (path: string, body: string) => Promise<number>;
  readonly memory: () => Promise<number>;
  stop(): Promise<void>;
}

async function startServed(databases: Databases): Promise<Served> {
  const child = fork(new URL('src/server-process.ts', import.meta.url), {
    execArgv: ['--expose-gc'],
    env: { ...process.env, BENCH_DATABASE: await databases.fresh('bench_channels') },
  });
  const [ready] = (await once(child, 'message')) as [{ port: number; secretKey: string }];
  const agent = new Agent({ keepAlive: true, maxSockets: callers });
  return {
    ...ready,
    post: (path, body) =>
      new Promise((resolve, reject) => {
        const headers = {
          authorization: `Bearer ${ready.secretKey}`,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
        };
        const outgoing = request(
          { host: '127.0.0.1', port: ready.port, path, method: 'POST', headers, agent },
          (incoming) => {
            incoming.resume();
            incoming.on('end', () => resolve(incoming.statusCode ?? 0));
          },
        );
        outgoing.on('error', reject);
        outgoing.end(body);
      }),
    async memory() {
      child.send('memory');
      const [{ rss }] = (await once(child, 'message')) as [{ rss: number }];
      return rss / 1_048_576;
    },
    async stop() {
      agent.destroy();
      child.disconnect();
      await once(child, 'exit');
    },
  };
}

const session = (externalId: string): string =>
  JSON.stringify({ type: 'bench', externalId, taskIdentifier: 'chat', triggerConfig: { basePayload: {} } });
const out = (externalId: string): string => `/realtime/v1/sessions/${externalId}/out`;

/** Sends `count` records, one every `everyMs`, and returns how long each of their deliveries took. */
async function deliveries(
  subscribers: number,
  count: number,
  everyMs: number,
  subscribe: (onRecord: OnRecord) => Promise<Subscribed>,
  append: (text: string) => Promise<unknown>,
): Promise<number[]> {
  const sent: number[] = [];
  const took: number[] = [];
  let done = (): void => {};
  const all = new Promise<void>((resolve) => (done = resolve));
  const warm = 20;
  const subscribed = await subscribe((n) => {
    const at = performance.now();
    if (n >= warm) took.push(at - (sent[n] ?? at));
    if (took.length === count * subscribers) done();
  });
  const timeout = setTimeout(done, 30_000);
  for (let n = 0; n < count + warm; n++) {
    const next = performance.now() + everyMs;
    sent[n] = performance.now();
    await append(`#${n}#${text}`);
    const left = next - performance.now();
    if (left > 0) await new Promise((resolve) => setTimeout(resolve, left));
  }
  await all;
  clearTimeout(timeout);
  subscribed.close();
  if (took.length < count * subscribers)
    throw new Error(`${count * subscribers - took.length} were not delivered`);
  return took;
}

async function measureDelivery(databases: Databases, redis: RunningRedis): Promise<void> {
  const client = new Redis({ path: redis.path });
  console.log(`\ndeliver: from the call to each subscriber, ms, median of ${rounds}`);
  for (const subscribers of [1, 100, 1_000]) {
    const count = subscribers === 1_000 ? 50 : 150;
    const rows: { ours: number; theirs: number; oursP99: number; theirsP99: number }[] = [];
    for (let round = 0; round < rounds; round++) {
      const served = await startServed(databases);
      await served.post('/api/v1/sessions', session('a'));
      await served.post('/api/v1/sessions', session('warm'));
      const everyMs = subscribers === 1_000 ? 60 : 20;
      // Warm-up: the server's code is not yet compiled after the start; Redis needs none.
      await deliveries(
        1,
        warmUps,
        0,
        (onRecord) => subscribeByHttp(served.port, served.secretKey, out('warm'), 1, onRecord),
        (body) => served.post(`${out('warm')}/append`, body),
      );
      const ours = await deliveries(
        subscribers,
        count,
        everyMs,
        (onRecord) => subscribeByHttp(served.port, served.secretKey, out('a'), subscribers, onRecord),
        (body) => served.post(`${out('a')}/append`, body),
      );
      await served.stop();
      await client.flushall();
      await deliveries(
        1,
        warmUps,
        0,
        (onRecord) => subscribeByRedis(redis.path, 'warm', 1, onRecord),
        (body) => client.xadd('warm', '*', 'body', body),
      );
      const theirs = await deliveries(
        subscribers,
        count,
        everyMs,
        (onRecord) => subscribeByRedis(redis.path, 's', subscribers, onRecord),
        (body) => client.xadd('s', '*', 'body', body),
      );
      rows.push({
        ours: percentile(ours, 50) ?? 0,
        theirs: percentile(theirs, 50) ?? 0,
        oursP99: percentile(ours, 99) ?? 0,
        theirsP99: percentile(theirs, 99) ?? 0,
      });
    }
    const of = (name: keyof (typeof rows)[number]) => rounded(median(rows.map((row) => row[name])));
    console.log(
      `  ${subscribers} subscriber${subscribers > 1 ? 's' : ''}: ours p50 ${of('ours')}, p99 ${of('oursP99')}; ` +
        `Redis p50 ${of('theirs')}, p99 ${of('theirsP99')}; ours ÷ Redis p50 ${ratio(rows)}`,
    );
  }
  client.disconnect();
}

async function measureFan(databases: Databases): Promise<void> {
  const p99: number[] = [];
  const p50: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const served = await startServed(databases);
    await served.post('/api/v1/sessions', session('a'));
    const took = await deliveries(
      1_000,
      25 * Math.max(4, seconds),
      40,
      (onRecord) => subscribeByHttp(served.port, served.secretKey, out('a'), 1_000, onRecord),
      (body) => served.post(`${out('a')}/append`, body),
    );
    p50.push(percentile(took, 50) ?? 0);
    p99.push(percentile(took, 99) ?? 0);
    await served.stop();
  }
  console.log(
    `\nfan: 1,000 subscribers, 25 records a second: p50 ${rounded(median(p50))} ms, p99 ${rounded(median(p99))} ms`,
  );
}

async function measureIdle(databases: Databases): Promise<void> {
  const served = await startServed(databases);
  const before = await served.memory();
  const subscribed = await subscribeByHttp(
    served.port,
    served.secretKey,
    (n) => out(`session-${n}`),
    idleSubscribers,
    () => {},
  );
  await new Promise((resolve) => setTimeout(resolve, 12_000));
  const after = await served.memory();
  console.log(
    `\nidle: ${idleSubscribers} subscribers: ${rounded(after)} MiB resident, ${rounded(before)} without them, ` +
      `${rounded(((after - before) * 1_024) / idleSubscribers)} KiB each`,
  );
  subscribed.close();
  await served.stop();
}

const databases = await startDatabases();
const redis = await startRedis('always');
try {
  console.log(databases.settings);
  if (isSelected('append')) await measureAppends(databases, redis);
  if (isSelected('deliver')) await measureDelivery(databases, redis);
  if (isSelected('fan')) await measureFan(databases);
  if (isSelected('idle')) await measureIdle(databases);
} finally {
  await redis.stop();
  await databases.stop();
}
