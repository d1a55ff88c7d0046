/**
 * Whether throughput is sustained: `npx node bench/sustained.ts [--mode mixed] [--runs 5000000]`. Batches of 500 runs
 * are sent so that 20,000 always wait, to `millrace start` on the embedded database, and one `millrace work` executes them. Every 10 s: how
 * memory and hot tables level off.
 *
 * `plain`: no-op runs of one queue. `mixed`: 50 queues and 10,000 concurrency keys with limits, retries, failures, delays, times to live and
 * schedules.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { millrace } from './src/adapters/millrace.ts';
import { now, sleep } from './src/clock.ts';
import { Feeder } from './src/feeder.ts';
import { dataFolder } from './src/folders.ts';
import { startDatabases } from './src/postgres.ts';
import { itemOf, prepare, type Mode } from './src/sustained/load.ts';
import { verdictOf, type Window } from './src/sustained/verdict.ts';
import { Watch, type Parts } from './src/sustained/watch.ts';

const { values } = parseArgs({
  options: {
    mode: { type: 'string', default: 'plain' },
    runs: { type: 'string', default: '5000000' },
    /** Ends after this time, regardless of how many runs are left. */
    minutes: { type: 'string' },
    batch: { type: 'string', default: '500' },
    waiting: { type: 'string', default: '20000' },
    window: { type: 'string', default: '10' },
    concurrency: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
if (values.mode !== 'plain' && values.mode !== 'mixed') throw new Error('--mode is plain or mixed.');
const mode: Mode = values.mode;
const runs = numberOf('runs', values.runs);
const batchSize = numberOf('batch', values.batch);
const backlog = numberOf('waiting', values.waiting);
const windowMs = numberOf('window', values.window) * 1_000;
const endsAt = values.minutes === undefined ? Infinity : now() + numberOf('minutes', values.minutes) * 60_000;
const senders = 4;

function numberOf(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${name} is a number above zero.`);
  return value;
}

mkdirSync(dataFolder, { recursive: true });
process.env['NODE_COMPILE_CACHE'] = join(dataFolder, 'compiled');
process.env['NODE_NO_WARNINGS'] = '1';

const databases = await startDatabases();
let database = '';
const system = millrace(
  { ...databases, fresh: async (name) => (database = await databases.fresh(name)) },
  { alone: false, profiled: false },
);
const address = await system.begin();
const feeder = new Feeder(address);
await prepare(mode, feeder);
const runner = await system.startRunner({
  profile: 'tuned',
  socket: '/nowhere',
  concurrency: values.concurrency === undefined ? undefined : Number(values.concurrency),
});
const watch = new Watch(database, {
  server: system.serverPid() ?? 0,
  runner: runner.pid,
  database: databases.pid,
});

let sent = 0;
let over = false;
let failure: unknown;
/** The numbers of waiting, sent and started runs at the last count. */
let counted = { waiting: 0, sent: 0, begun: 0 };
let begun = 0;
const waiting = (): number => counted.waiting + (sent - counted.sent) - (begun - counted.begun);
const isMore = (): boolean => !over && sent < runs && now() < endsAt;

async function send(): Promise<void> {
  while (isMore()) {
    if (waiting() >= backlog) {
      await sleep(5);
      continue;
    }
    const from = sent;
    const size = Math.min(batchSize, runs - from);
    sent += size;
    await feeder.batch(Array.from({ length: size }, (_, index) => itemOf(mode, from + index)));
  }
}

/** Keeps `begun` and `waiting` close to the truth without counting rows all the time. */
async function follow(): Promise<void> {
  for (let turn = 0; isMore(); turn++) {
    begun = await watch.begun();
    if (turn % 40 === 0) {
      const before = { sent, begun };
      counted = { waiting: await watch.waiting(), ...before };
    }
    await sleep(50);
  }
}

const windows: Window[] = [];
async function measure(): Promise<void> {
  let from = { at: now(), begun: await watch.begun(), spent: watch.spent() };
  for (let next = from.at + windowMs; ; next += windowMs) {
    while (isMore() && now() < next) await sleep(200);
    // The remainder is not a whole window.
    if (!isMore()) return;
    const to = { at: now(), begun: await watch.begun(), spent: watch.spent() };
    const attempts = to.begun - from.begun;
    const perS = (attempts / (to.at - from.at)) * 1_000;
    const us = (part: keyof Parts): number => ((to.spent[part] - from.spent[part]) * 1_000) / attempts;
    const cpuUs = { server: us('server'), runner: us('runner'), database: us('database') };
    const cores = (to.spent.available - from.spent.available) / (to.at - from.at);
    from = to;
    const window = {
      begun: to.begun,
      perS,
      cpuUs,
      cores,
      waiting: waiting(),
      ...(await watch.moment()),
    };
    windows.push(window);
    report(window);
  }
}

function report(window: Window): void {
  if (values.json) return console.log(JSON.stringify(window));
  const round = (parts: Readonly<Record<string, number>>): string =>
    Object.entries(parts)
      .filter(([, value]) => value >= 0.5)
      .map(([name, value]) => `${name} ${Math.round(value)}`)
      .join(' ');
  console.log(
    `${(windows.length * windowMs) / 1_000} s: ${Math.round(window.perS)}/s, ${(window.begun / 1e6).toFixed(2)} M begun, ${window.waiting} wait; ` +
      `µs ${round(window.cpuUs)}; cores ${window.cores.toFixed(2)}; MiB ${round(window.memory)}; hot MiB ${round(window.hot)} (dead ${window.dead}, vacuums ${window.autovacuums}); ` +
      `growing MiB ${round(window.growing)}; checkpoints ${window.checkpoints}`,
  );
}

const stop = (error: unknown): void => {
  failure ??= error;
  over = true;
};
await Promise.all(
  [...Array.from({ length: senders }, send), follow(), measure()].map((work) => work.catch(stop)),
);
if (failure === undefined) {
  const verdict = verdictOf(windows);
  console.log(values.json ? JSON.stringify({ mode, sent, ...verdict }) : verdict.text);
  if (!verdict.good) process.exitCode = 1;
} else {
  console.error(failure);
  process.exitCode = 1;
}
feeder.close();
await watch.close();
await runner.stop();
await system.end();
await databases.stop();
process.exit();
