/**
 * How fast webhooks are answered: `node bench/webhooks.ts [seconds] [per second]`. A server on an embedded PostgreSQL receives signed requests
 * at a fixed rate, from another thread, whether or not earlier ones were answered; then the same with two requests of each sender's id. Triggers
 * of the same size are the comparison. The goal: 95 % answered within 20 ms, at 200 a second.
 */
import { createHmac } from 'node:crypto';
import { Agent, request } from 'node:http';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { promote } from '../test/support/promote.ts';
import { startLocalServer } from './src/local-server.ts';

interface Load {
  readonly url: string;
  /** For triggers. */
  readonly key?: string;
  readonly seconds: number;
  readonly perSecond: number;
  /** How often each request is sent. */
  readonly times: number;
}

/** Sends requests on schedule. A late answer does not delay the next request. */
async function send({ url, key, seconds, perSecond, times }: Load): Promise<number[]> {
  const agent = new Agent({ keepAlive: true });
  const post = (id: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const event = JSON.stringify({
        id,
        object: 'event',
        type: 'invoice.paid',
        data: {
          object: { id: 'in_1', lines: Array.from({ length: 20 }, (_, n) => ({ n, text: 'x'.repeat(80) })) },
        },
      });
      const body = key === undefined ? event : `{"payload":${event}}`;
      const at = Math.floor(Date.now() / 1_000);
      const signature = createHmac('sha256', 'secret').update(`${at}.${body}`).digest('hex');
      const from = performance.now();
      const outgoing = request(
        url,
        {
          method: 'POST',
          agent,
          headers: {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(body),
            'stripe-signature': `t=${at},v1=${signature}`,
            ...(key !== undefined && { authorization: `Bearer ${key}` }),
          },
        },
        (incoming) => {
          incoming.resume();
          incoming.on('end', () => {
            // An overloaded server answers 503: slower than any goal.
            resolve(incoming.statusCode === 200 ? performance.now() - from : Infinity);
          });
        },
      );
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  const name = crypto.randomUUID();
  const answers: Promise<number>[] = [];
  const start = performance.now();
  while (performance.now() < start + seconds * 1_000) {
    const due = Math.floor(((performance.now() - start) / 1_000) * perSecond);
    while (answers.length < due) answers.push(post(`evt_${name}_${Math.floor(answers.length / times)}`));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const took = await Promise.all(answers);
  agent.destroy();
  return took.toSorted((first, second) => first - second);
}

if (!isMainThread) {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(await send(workerData as Load));
} else {
  const seconds = Number(process.argv[2] ?? 10);
  const perSecond = Number(process.argv[3] ?? 200);
  const { server, key, stop } = await startLocalServer();
  const ask = async (path: string, body?: unknown) => {
    const response = await fetch(server.url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${key}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (response.status !== 200) throw new Error(await response.text());
    return response.json() as Promise<{ data: { url: string }[] }>;
  };
  try {
    await ask(`/api/v1/projects/${server.credentials?.projectRef}/envvars/prod`, {
      name: 'SECRET',
      value: 'secret',
    });
    await ask('/runner/v1/versions', {
      contentHash: 'bench-webhooks',
      tasks: [
        { id: 'hook', filePath: 't.ts', webhook: { verify: { scheme: 'stripe', secrets: ['SECRET'] } } },
      ],
    });
    await promote(server.url, key);
    const url = (await ask('/api/v1/webhooks')).data[0]?.url ?? '';
    const measured = (load: Omit<Load, 'url'> & Partial<Load>): Promise<number[]> =>
      new Promise((resolve, reject) => {
        const worker = new Worker(new URL(import.meta.url), { workerData: { url, ...load } });
        worker.once('message', resolve).once('error', reject);
      });
    const triggers = { key, url: `${server.url}/api/v1/tasks/hook/trigger` };
    await measured({ seconds: 2, perSecond, times: 1 });
    for (const { what, ...load } of [
      { what: 'triggers', ...triggers, times: 1 },
      { what: 'webhooks', times: 1 },
      { what: 'webhooks, each sent twice', times: 2 },
      { what: 'triggers', ...triggers, times: 1 },
      { what: 'webhooks', times: 1 },
    ]) {
      const before = process.cpuUsage();
      const took = await measured({ seconds, perSecond, ...load });
      const { user, system } = process.cpuUsage(before);
      const at = (share: number): string => (took[Math.floor(took.length * share)] ?? 0).toFixed(1);
      console.log(
        `${what}: ${(took.length / seconds).toFixed(0)}/s, p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms, ` +
          `${((user + system) / took.length).toFixed(0)} µs of processor time for each, with the sender's`,
      );
    }
  } finally {
    await stop();
  }
}
