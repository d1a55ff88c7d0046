/**
 * The cost of runs spread over versions or keys for a whole server: `node bench/spread.ts [rounds] [runs] [keys] [capacity]`. The same
 * runs are triggered through the API and given to a runner that ends them at once: of one version and of 50 out of 1,000, under one key and
 * spread over 100,000, with a rate limit for each. The figures are processor time of the server and of PostgreSQL; the runner has a process
 * of its own, which is not counted.
 */
import { rm } from 'node:fs/promises';
import { WebSocket } from 'ws';
import type { RunnerMessage, ServerMessage } from '@millrace/contract/runner';
import { promote } from '../test/support/promote.ts';
import { Script } from './src/child.ts';
import { Feeder, type Item } from './src/feeder.ts';
import { dataFolder, source } from './src/folders.ts';
import { startDatabases, Tables, type Databases } from './src/postgres.ts';
import { cpuOf, ownCpuOf } from './src/processes.ts';
import { median } from './src/statistics.ts';

const rounds = Number(process.argv[2] ?? 5);
const runs = Number(process.argv[3] ?? 100_000);
const manyKeys = Number(process.argv[4] ?? 100_000);
const capacity = Number(process.argv[5] ?? 100);
const perBatch = 1_000;
const versions = 1_000;
/** Versions that have waiting runs, of these. */
const waitingVersions = 50;

interface Side {
  readonly name: string;
  /** The side that it is compared with. */
  readonly against: string;
  readonly isRated: boolean;
  /** The options of the nth run. */
  readonly optionsOf: (n: number, names: readonly string[]) => object;
  readonly figures: Figures[];
}

interface Figures {
  /** Microseconds of processor time a run. */
  readonly trigger: number;
  readonly drain: number;
  readonly drainDatabase: number;
  /** Runs per second. */
  readonly rate: number;
}

const sides: readonly Side[] = [
  { name: 'one version', against: 'one version', isRated: false, optionsOf: () => ({}), figures: [] },
  {
    name: `${waitingVersions} of ${versions} versions`,
    against: 'one version',
    isRated: false,
    optionsOf: (n, names) => ({ lockToVersion: names[((n % waitingVersions) * versions) / waitingVersions] }),
    figures: [],
  },
  {
    name: 'one key with a limit',
    against: 'one key with a limit',
    isRated: true,
    optionsOf: () => ({ concurrencyKey: 'key' }),
    figures: [],
  },
  {
    name: `${manyKeys} keys with a limit each`,
    against: 'one key with a limit',
    isRated: true,
    optionsOf: (n) => ({ concurrencyKey: `key ${n % manyKeys}` }),
    figures: [],
  },
];

interface Started {
  readonly port: number;
  readonly secretKey: string;
}

/** Registers the versions and makes the last one current. */
async function register(feeder: Feeder, isRated: boolean): Promise<string[]> {
  const rateLimit = { limit: 1_000_000, period: 60, burst: 1_000_000, key: 'concurrencyKey' };
  const tasks = [
    { id: 'noop', filePath: 't.ts', ...(isRated && { queue: { name: 'task/noop', rateLimit } }) },
  ];
  const names: string[] = [];
  for (let n = 0; n < versions; n++) {
    const { version } = await feeder.post<{ version: string }>('/runner/v1/versions', {
      contentHash: `content-${n}`,
      tasks,
    });
    names.push(version);
  }
  return names;
}

/** A runner that ends each attempt when it comes, until there were as many as `runs`. */
function drain(url: string, key: string, names: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/runner/v1/connect`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const send = (message: RunnerMessage) => socket.send(JSON.stringify(message));
    let ended = 0;
    let heartbeat: NodeJS.Timeout | undefined;
    socket.on('open', () =>
      send({
        type: 'hello',
        runner: 'runner-of-bench',
        host: 'bench',
        pid: process.pid,
        capacity,
        versions: names,
        leased: [],
        fetches: { nodeMajor: 24, platform: 'linux-x64-glibc', labels: [] },
      }),
    );
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as ServerMessage;
      if (message.type === 'welcome') {
        heartbeat = setInterval(() => send({ type: 'heartbeat' }), message.heartbeatMs);
      } else if (message.type === 'run') {
        send({
          type: 'settle',
          settlements: message.assignments.map(({ run, fence }) => ({
            run,
            fence,
            outcome: { kind: 'completed', output: '1', outputType: 'application/json' },
          })),
        });
      } else if (message.type === 'settled') {
        ended += message.fences.length;
        if (ended < runs) return;
        clearInterval(heartbeat);
        socket.close();
        resolve();
      } else if (message.type === 'refused') reject(new Error(message.reason));
    });
    socket.on('error', reject);
  });
}

async function round(databases: Databases, side: Side): Promise<void> {
  const database = await databases.fresh('bench_spread');
  const server = new Script(source('server-process.ts'), { BENCH_DATABASE: database });
  const { port, secretKey } = await new Promise<Started>((resolve) => server.child.once('message', resolve));
  const tables = new Tables(database);
  const url = `http://127.0.0.1:${port}`;
  const feeder = new Feeder({ url, key: secretKey });
  const names = await register(feeder, side.isRated);
  await promote(url, secretKey);
  const spent = () => ({ server: ownCpuOf(server.pid), database: cpuOf(databases.pid) });
  const us = (before: number, after: number) => ((after - before) * 1_000) / runs;

  await tables.vacuum();
  let before = spent();
  const payload = { pad: 'x'.repeat(160) };
  for (let at = 0; at < runs; at += perBatch) {
    const items = Array.from({ length: Math.min(perBatch, runs - at) }, (_, n): Item => ({
      task: 'noop',
      payload,
      options: side.optionsOf(at + n, names),
    }));
    await feeder.batch(items);
  }
  let after = spent();
  const trigger = us(before.server, after.server) + us(before.database, after.database);

  await tables.vacuum();
  before = spent();
  const from = performance.now();
  await drain(url, secretKey, names);
  const rate = (runs / (performance.now() - from)) * 1_000;
  after = spent();
  const drainDatabase = us(before.database, after.database);
  side.figures.push({
    trigger,
    drain: us(before.server, after.server) + drainDatabase,
    drainDatabase,
    rate,
  });

  const completed = await tables.count(`select count(*) from runs where status = 'COMPLETED'`);
  if (completed !== runs) throw new Error(`${completed} of ${runs} runs were completed`);
  feeder.close();
  await tables.close();
  server.child.disconnect();
  await new Promise((resolve) => server.child.once('exit', resolve));
}

const databases = await startDatabases();
try {
  // In turn, so that other load on the machine affects all.
  for (let n = 0; n < rounds; n++) for (const side of sides) await round(databases, side);
} finally {
  await databases.stop();
  await rm(dataFolder, { recursive: true, force: true });
}
console.table(
  sides.map(({ name, against, figures }) => {
    const others = sides.find((side) => side.name === against)?.figures ?? [];
    // Each round against the same round of the other side.
    const ratio = (of: (figures: Figures) => number) =>
      median(figures.map((own, n) => of(own) / of(others[n] ?? own)))?.toFixed(2);
    const figure = (of: (figures: Figures) => number) => median(figures.map(of))?.toFixed(1);
    return {
      '': name,
      'trigger, µs a run': figure((entry) => entry.trigger),
      'dequeue and end, µs a run': figure((entry) => entry.drain),
      'of it PostgreSQL': figure((entry) => entry.drainDatabase),
      'dequeue and end, ratio': ratio((entry) => entry.drain),
      'all, ratio': ratio((entry) => entry.trigger + entry.drain),
      'runs a second': figure((entry) => entry.rate),
      'of the other': ratio((entry) => entry.rate),
    };
  }),
);
