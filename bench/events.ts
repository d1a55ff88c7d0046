/**
 * The cost of events: `node bench/events.ts [seconds] [callers]`. A server on an embedded PostgreSQL, asked over HTTP: triggers of one
 * task, then events that 10 of 1,000 subscriptions match, then the matching alone with more and more subscriptions that cannot match. The
 * measure: runs made by events a second, at least half of the triggers a second.
 */
import { Agent, request } from 'node:http';
import { indexSubscriptions } from '../packages/server/src/events/subscriptions.ts';
import { promote } from '../test/support/promote.ts';
import { startLocalServer } from './src/local-server.ts';

const seconds = Number(process.argv[2] ?? 8);
const callers = Number(process.argv[3] ?? 64);
const matching = 10;
const subscriptions = 1_000;

const manifest = (n: number, name: string, filter?: unknown) => ({
  id: `task-${n}`,
  filePath: 't.ts',
  on: { name, filter },
});
const tasks = Array.from({ length: subscriptions }, (_, n) =>
  n < matching
    ? manifest(
        n,
        n % 2 === 0 ? 'order.created' : 'order.*',
        n % 3 === 0 ? { total: { $gte: 10 } } : undefined,
      )
    : manifest(n, `thing-${n}.created`, { total: { $gte: n } }),
);

const { server, key, stop } = await startLocalServer();
const agent = new Agent({ keepAlive: true, maxSockets: callers });

const post = (path: string, body: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    const outgoing = request(`${server.url}${path}`, { method: 'POST', headers, agent }, (incoming) => {
      incoming.resume();
      incoming.on('end', () => resolve(incoming.statusCode ?? 0));
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });

let sent = 0;
/** Requests per second, and the median duration of a request in milliseconds. */
async function rate(ask: () => Promise<number>): Promise<{ perSecond: number; medianMs: number }> {
  const until = performance.now() + seconds * 1_000;
  const took: number[] = [];
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() < until) {
        const at = performance.now();
        const status = await ask();
        if (status !== 200) throw new Error(`answered ${status}`);
        took.push(performance.now() - at);
      }
    }),
  );
  took.sort((a, b) => a - b);
  return { perSecond: took.length / seconds, medianMs: took[Math.floor(took.length / 2)] ?? 0 };
}

const payload = { total: 20, customer: { id: 'c1', plan: 'pro' }, note: 'x'.repeat(150) };
const trigger = () => post('/api/v1/tasks/task-0/trigger', JSON.stringify({ payload }));
const event = (name: string) => () =>
  post('/api/v1/events', JSON.stringify({ id: `e${sent++}`, event: { name, payload } }));
try {
  if ((await post('/runner/v1/versions', JSON.stringify({ contentHash: 'bench-events', tasks }))) !== 200)
    throw new Error('no version');
  await promote(server.url, key);
  await rate(trigger);
  for (let round = 0; round < 2; round++) {
    const triggers = await rate(trigger);
    const matched = await rate(event('order.created'));
    const unmatched = await rate(event('nobody.cares'));
    const runs = matched.perSecond * matching;
    console.log(
      `triggers ${triggers.perSecond.toFixed(0)}/s (${triggers.medianMs.toFixed(1)} ms), events of ${matching} runs ${matched.perSecond.toFixed(0)}/s ` +
        `(${matched.medianMs.toFixed(1)} ms) = ${runs.toFixed(0)} runs/s, ${(runs / triggers.perSecond).toFixed(2)} of the trigger rate; ` +
        `events of none ${unmatched.perSecond.toFixed(0)}/s (${unmatched.medianMs.toFixed(1)} ms)`,
    );
  }
} finally {
  agent.destroy();
  await stop();
}

for (const others of [0, 1_000, 10_000, 100_000]) {
  const index = indexSubscriptions([
    ...tasks.slice(0, matching),
    ...Array.from({ length: others }, (_, n) =>
      manifest(n + matching, `thing-${n}.created`, { total: { $gte: n } }),
    ),
  ]);
  for (let n = 0; n < 20_000; n++) index.matching('order.created', payload);
  const at = performance.now();
  const times = 200_000;
  for (let n = 0; n < times; n++) index.matching('order.created', payload);
  console.log(
    `matching among ${others} that cannot match: ${(((performance.now() - at) / times) * 1_000).toFixed(2)} µs`,
  );
}
