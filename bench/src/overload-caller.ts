/** A process that sends requests to a server: paced ones of many keys, or a flood of one. */
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { promote } from '../../test/support/promote.ts';
import { answer } from './child.ts';
import { now, sleep } from './clock.ts';
import { Feeder } from './feeder.ts';
import { floodAsRunners } from './overload-runner.ts';
import { percentile } from './statistics.ts';

export interface Ask {
  readonly port: number;
  readonly keys: readonly string[];
  readonly ms: number;
  /** `flood`: this many connections, each with its next request when the previous one is answered. */
  readonly connections?: number;
  /** Otherwise: requests of each key, and health checks, per second, whether or not previous ones are answered. */
  readonly perSecond?: number;
  /** The request of a flood. Default: a trigger. `lines` and `claims` are sent by a tenth as many runners: see `overload-runner.ts`. */
  readonly kind?: keyof typeof requests | 'lines' | 'claims';
}

export interface Latency {
  readonly count: number;
  readonly p50: number | null;
  readonly p99: number | null;
  readonly max: number | null;
}

export interface Sent {
  readonly calls: Latency;
  readonly statuses: Readonly<Record<string, number>>;
  readonly healthz?: Latency;
  readonly readyz?: Latency;
}

const latencyOf = (ms: readonly number[]): Latency => ({
  count: ms.length,
  p50: percentile(ms, 50),
  p99: percentile(ms, 99),
  max: percentile(ms, 100),
});

const trigger = JSON.stringify({ payload: { text: 'x'.repeat(160) } });
const many = JSON.stringify({
  items: Array.from({ length: 200 }, () => ({ task: 'overload', payload: { text: 'x'.repeat(160) } })),
});
const requests = {
  trigger: ['POST', '/api/v1/tasks/overload/trigger', trigger],
  many: ['POST', '/api/v1/tasks/trigger-many', many],
  list: ['GET', '/api/v1/runs?page[size]=100', undefined],
  append: ['POST', '/realtime/v1/sessions/overload/out/append', 'x'.repeat(160)],
} as const;

/** Creates the data that a flood needs. Returns the version of its task. */
async function prepare(port: number, key: string, kind: NonNullable<Ask['kind']>): Promise<string> {
  const url = `http://127.0.0.1:${port}`;
  const feeder = new Feeder({ url, key });
  const tasks = [{ id: 'overload', filePath: 't.ts' }];
  const { version } = await feeder.post<{ version: string }>('/runner/v1/versions', {
    contentHash: 'overload',
    tasks,
  });
  await promote(url, key);
  const triggerConfig = { basePayload: {} };
  if (kind === 'append')
    await feeder.post('/api/v1/sessions', {
      type: 'overload',
      externalId: 'overload',
      taskIdentifier: 'overload',
      triggerConfig,
    });
  const items = Array.from({ length: 1_000 }, () => ({ task: 'overload', payload: 1 }));
  if (kind === 'claims') for (let batch = 0; batch < 50; batch++) await feeder.batch(items);
  feeder.close();
  return version;
}

/**
 * One connection that sends the same bytes again and again. Without an HTTP client, which would take as much processor time as the server that
 * is measured.
 */
function flood(
  port: number,
  text: string,
  until: number,
  took: number[],
  statuses: Record<string, number>,
): Promise<void> {
  return new Promise((resolve) => {
    let began = now();
    let received = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(text)).setNoDelay(true);
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      received += chunk;
      const head = received.indexOf('\r\n\r\n');
      if (head < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0);
      if (received.length < head + 4 + length) return;
      const status = received.slice(9, 12);
      statuses[status] = (statuses[status] ?? 0) + 1;
      received = '';
      const at = now();
      took.push(at - began);
      began = at;
      if (at < until) socket.write(text);
      else socket.destroy();
    });
    socket.on('error', ({ message }) => (statuses[message] = (statuses[message] ?? 0) + 1));
    socket.on('close', () => resolve());
  });
}

function rawRequest(method: string, path: string, key: string, body = ''): string {
  const lines = [`${method} ${path} HTTP/1.1`, 'host: 127.0.0.1', `authorization: Bearer ${key}`];
  if (body !== '') lines.push('content-type: application/json', `content-length: ${body.length}`);
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

answer(async ({ port, keys, ms, connections, perSecond = 5, kind = 'trigger' }: Ask): Promise<Sent> => {
  const agent = new Agent({ keepAlive: true });
  const statuses: Record<string, number> = {};
  let until = now() + ms;

  const call = (method: string, path: string, key?: string, body?: string): Promise<number> =>
    new Promise((resolve) => {
      const began = now();
      const finish = (status: number | string): void => {
        statuses[status] = (statuses[status] ?? 0) + 1;
        resolve(now() - began);
      };
      const headers = {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json', 'content-length': body.length }),
      };
      const sent = request({ agent, host: '127.0.0.1', port, method, path, headers }, (reply) => {
        reply.resume();
        reply.once('end', () => finish(reply.statusCode ?? 0));
      });
      sent.once('error', ({ message }) => finish(message));
      sent.end(body);
    });

  async function paced(gapMs: number, offsetMs: number, send: () => Promise<number>): Promise<number[]> {
    const calls: Promise<number>[] = [];
    await sleep(offsetMs);
    for (let at = now(); at < until; at += gapMs) {
      await sleep(Math.max(0, at - now()));
      calls.push(send());
    }
    return Promise.all(calls);
  }

  if (connections !== undefined) {
    const key = keys[0] ?? '';
    const version = await prepare(port, key, kind);
    until = now() + ms;
    if (kind === 'lines' || kind === 'claims') {
      const flooded = { port, key, runners: Math.ceil(connections / 10), ms, kind, version };
      return { calls: latencyOf([]), statuses: { [kind]: await floodAsRunners(flooded) } };
    }
    const [method, path, body] = requests[kind];
    const took: number[] = [];
    const text = rawRequest(method, path, key, body);
    await Promise.all(Array.from({ length: connections }, () => flood(port, text, until, took, statuses)));
    return { calls: latencyOf(took), statuses };
  }
  const gapMs = 1_000 / perSecond;
  const [calls, healthz, readyz] = await Promise.all([
    Promise.all(
      keys.map((key, index) =>
        paced(gapMs, (index * gapMs) / keys.length, () => call('POST', requests.trigger[1], key, trigger)),
      ),
    ),
    paced(50, 0, () => call('GET', '/healthz')),
    paced(50, 25, () => call('GET', '/readyz')),
  ]);
  agent.destroy();
  return { calls: latencyOf(calls.flat()), statuses, healthz: latencyOf(healthz), readyz: latencyOf(readyz) };
});
