import type {
  auth as publishedAuth,
  runs as publishedRuns,
  streams as publishedStreams,
} from '@trigger.dev/sdk';
import { configure, runs, sessions, streams, tasks } from '@millrace/sdk';
import { describe, expect, onTestFinished, test } from 'vitest';
import { masterKeyOf } from '../../packages/server/src/auth/seal.ts';
import { createLog } from '../../packages/server/src/logger.ts';
import { startServer } from '../../packages/server/src/server.ts';
import { versions } from '../published-sdk/each-version.ts';
import {
  followEvents,
  ownSessionServer,
  sessionServer,
  type SessionServer,
} from '../sessions/session-server.ts';
import { startProject } from '../support/project.ts';
import type { TestServer } from '../support/server.ts';

interface PublishedSdk {
  readonly auth: typeof publishedAuth;
  readonly runs: typeof publishedRuns;
  readonly streams: typeof publishedStreams;
}

/** Well below the minute after which an idle stream ends, with a margin for a busy machine. */
const soonMs = 8_000;

/** A run with `count` chunks in its stream, which no runner executes. */
async function runWithStream(server: SessionServer, count: number): Promise<string> {
  configure({ baseURL: server.url, accessToken: server.keys.prod });
  const { id } = await tasks.trigger('work', {});
  for (let n = 0; n < count; n++) await streams.append('news', n, { target: id });
  return id;
}

const follow = (server: SessionServer, run: string, stream: string, headers: Record<string, string> = {}) =>
  followEvents(`${server.url}/realtime/v1/streams/${run}/${stream}`, {
    authorization: `Bearer ${server.keys.prod}`,
    ...headers,
  });

const chunks = (records: readonly { body: string }[]): unknown[] =>
  records.map(({ body }) => (JSON.parse(body) as { data: unknown }).data);

/** Another server process on the same database. */
async function replica(server: TestServer): Promise<string> {
  const other = await startServer({
    database: server.database,
    port: 0,
    masterKey: masterKeyOf(Buffer.alloc(32, 1)),
    log: createLog({ write: () => {} }),
  });
  onTestFinished(() => other.close());
  return other.url;
}

async function timed<T>(act: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const result = await act();
  expect(performance.now() - began).toBeLessThan(soonMs);
  return result;
}

describe('the stream of a run that has ended', { timeout: 120_000 }, () => {
  test('ends after the last record, for new and existing readers, on every server', async () => {
    const server = await ownSessionServer();
    const run = await runWithStream(server, 3);
    const elsewhere = await replica(server);
    const readers = [
      await follow(server, run, 'news'),
      await follow(server, run, 'news', { 'x-stream-version': 'v1' }),
      await follow(server, run, 'not written'),
      await followEvents(`${elsewhere}/realtime/v1/streams/${run}/news`, {
        authorization: `Bearer ${server.keys.prod}`,
      }),
    ];
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    await server.endRun(run);
    const [streamed, v1, none, far] = await timed(() =>
      Promise.all([
        readers[0]!.records(),
        (async () => {
          const data: string[] = [];
          for (let event = await readers[1]!.next(); event; event = await readers[1]!.next()) {
            data.push(event.data);
          }
          return data;
        })(),
        readers[2]!.records(),
        readers[3]!.records(),
      ]),
    );
    expect([chunks(streamed), chunks(none), chunks(far)]).toEqual([[0, 1, 2], [], [0, 1, 2]]);
    expect(v1).toHaveLength(3);
    // A new reader gets the end immediately.
    const began = performance.now();
    expect(chunks(await (await follow(server, run, 'news')).records())).toEqual([0, 1, 2]);
    expect(chunks(await (await follow(server, run, 'news', { 'last-event-id': '1' })).records())).toEqual([
      2,
    ]);
    expect(await (await follow(server, run, 'news', { 'last-event-id': '9' })).records()).toEqual([]);
    expect(await (await follow(server, run, 'not written')).records()).toEqual([]);
    const latest = { 'x-trigger-stream-start': 'latest' };
    expect(await (await follow(server, run, 'news', latest)).records()).toEqual([]);
    expect(performance.now() - began).toBeLessThan(3_000);
  });

  test('first delivers records that were in flight when the run ended', async () => {
    const server = await ownSessionServer();
    const run = await runWithStream(server, 1);
    const elsewhere = await replica(server);
    const connected = await follow(server, run, 'news');
    await server.endRun(run);
    const after = await follow(server, run, 'news');
    const far = await followEvents(`${elsewhere}/realtime/v1/streams/${run}/news`, {
      authorization: `Bearer ${server.keys.prod}`,
    });
    for (let n = 1; n < 12; n++) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      await streams.append('news', n, { target: run });
    }
    const expected = Array.from({ length: 12 }, (_, n) => n);
    const read = await timed(() => Promise.all([connected.records(), after.records(), far.records()]));
    for (const records of read) expect(chunks(records)).toEqual(expected);
  });

  test('continues while the run is retried', async () => {
    const server = await sessionServer();
    configure({ baseURL: server.url, accessToken: server.keys.prod });
    await startProject(server, {
      'tasks/tell.ts': `import { streams, task } from '@millrace/sdk';
export const tell = task({
  id: 'tell',
  retry: { maxAttempts: 2, minTimeoutInMs: 4_000, maxTimeoutInMs: 4_000, factor: 1, randomize: false },
  run: async (_: unknown, { ctx }) => {
    await streams.append('news', ctx.attempt.number);
    if (ctx.attempt.number === 1) throw new Error('again');
  },
});
`,
    });
    const { id } = await tasks.trigger('tell', {});
    const read: unknown[] = [];
    for await (const chunk of streams.read(id, 'news')) read.push(chunk);
    expect(read).toEqual([1, 2]);
    expect((await runs.retrieve(id)).status).toBe('COMPLETED');
  });

  test('is read to its end by our SDK and by every published one', async () => {
    const server = await sessionServer();
    const run = await runWithStream(server, 3);
    await server.endRun(run);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const collected = async (source: AsyncIterable<unknown>): Promise<unknown[]> => {
      const all: unknown[] = [];
      for await (const chunk of source) all.push(chunk);
      return all;
    };
    expect(await timed(() => collected(streams.read(run, 'news')))).toEqual([0, 1, 2]);
    for (const [version, load] of versions) {
      const sdk = (await load()) as PublishedSdk;
      await sdk.auth.withAuth({ baseURL: server.url, accessToken: server.keys.prod }, async () => {
        const read = async () =>
          collected(
            version === '4.0' ? await sdk.runs.fetchStream(run, 'news') : await sdk.streams.read(run, 'news'),
          );
        expect([version, await timed(read)]).toEqual([version, [0, 1, 2]]);
      });
    }
  });
});

test(
  'subscriptions to a run and to a batch end with them, for late subscribers as well',
  { timeout: 60_000 },
  async () => {
    const server = await sessionServer();
    const run = await runWithStream(server, 0);
    await server.endRun(run);
    const { body: batch } = await server.ask('/api/v2/tasks/batch', {
      method: 'POST',
      body: { items: [{ task: 'work', payload: 1 }] },
    });
    const { body: members } = await server.ask(`/api/v2/batches/${batch.id}`);
    await server.endRun(members.runs[0]);
    const headers = { authorization: `Bearer ${server.keys.prod}` };
    for (const path of [`runs/${run}/events`, `batches/${batch.id}/events`]) {
      const last = await timed(async () => {
        const reader = await followEvents(`${server.url}/realtime/v1/${path}`, headers);
        const ids: (string | undefined)[] = [];
        for (let event = await reader.next(); event; event = await reader.next()) {
          if (event.event === 'run') ids.push(event.id);
          if (event.event === 'end') return ids.at(-1);
        }
        throw new Error('The stream did not end.');
      });
      // A reader that has read everything gets only the end.
      await timed(async () => {
        const reader = await followEvents(`${server.url}/realtime/v1/${path}`, {
          ...headers,
          'last-event-id': last ?? '',
        });
        let event = await reader.next();
        while (event && event.event !== 'end') event = await reader.next();
        expect([path, event?.event]).toEqual([path, 'end']);
      });
    }
  },
);

describe('a channel of a session that has ended', { timeout: 60_000 }, () => {
  test('ends after the last record, for new and existing readers', async () => {
    const server = await sessionServer();
    await server.start({ externalId: 'a' });
    await server.append('a', 'in', 'one');
    await server.append('a', 'out', 'two');
    const paths = ['a/in', 'a/out', 'a/channels/side/out'];
    const connected = await Promise.all(paths.map((path) => server.follow(path)));
    await new Promise((resolve) => setTimeout(resolve, 500));
    const closing = server.ask('/api/v1/sessions/a/close', { method: 'POST', body: {} });
    const read = await timed(() => Promise.all(connected.map((reader) => reader.records())));
    await closing;
    expect(read.map(chunks)).toEqual([['one'], ['two'], []]);
    const began = performance.now();
    for (const [index, path] of paths.entries()) {
      const reader = await server.follow(path, { headers: { 'x-peek-settled': '1' } });
      expect([path, chunks(await reader.records())]).toEqual([path, [['one'], ['two'], []][index]]);
      // Published clients reconnect unless the response marks the end.
      if (path === 'a/out') expect(reader.headers.get('x-session-settled')).toBe('true');
    }
    expect(performance.now() - began).toBeLessThan(3_000);
  });

  test('ends when the session expires', async () => {
    const server = await sessionServer();
    const expiresAt = new Date(Date.now() + 4_000).toISOString();
    await server.start({ externalId: 'a', expiresAt });
    await server.append('a', 'out', 'two');
    const reader = await server.follow('a/out');
    expect(chunks(await timed(() => reader.records()))).toEqual(['two']);
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expiresAt));
    expect(chunks(await timed(async () => (await server.follow('a/out')).records()))).toEqual(['two']);
  });

  test('is followed to its end by a listener of our SDK, which does not reconnect', async () => {
    const server = await ownSessionServer();
    configure({ baseURL: server.url, accessToken: server.keys.prod });
    await server.start({ externalId: 'a' });
    await server.append('a', 'in', 'one');
    const received: unknown[] = [];
    const { off } = sessions.open('a').in.on((message) => void received.push(message.data));
    await expect.poll(() => received, { timeout: 10_000 }).toEqual(['one']);
    await server.ask('/api/v1/sessions/a/close', { method: 'POST', body: {} });
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    const [, follows] =
      /_count\{method="GET",route="\/realtime\/v1\/sessions\/:session\/in",status="2xx"\} (\d+)/.exec(
        metrics,
      ) ?? [];
    expect(Number(follows)).toBe(1);
    off();
  });
});
