import { describe, expect, onTestFinished, test } from 'vitest';
import { auth, configure, SessionClosedError, sessions, SessionTimeoutError } from '@millrace/sdk';
import { masterKeyOf } from '../../packages/server/src/auth/seal.ts';
import { createLog } from '../../packages/server/src/logger.ts';
import { startServer } from '../../packages/server/src/server.ts';
import { testDatabase } from '../support/database.ts';
import { cuttingProxy } from './cutting-proxy.ts';
import { sessionServer } from './session-server.ts';
import { scale } from '../support/long.ts';

const chat = { type: 'chat', taskIdentifier: 'chat', triggerConfig: { basePayload: {} } };

async function allOf<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const each of source) all.push(each);
  return all;
}

async function configured() {
  const server = await sessionServer();
  configure({ baseURL: server.url, secretKey: server.keys.prod });
  return server;
}

describe('sessions', () => {
  test('are started, found, updated and closed', async () => {
    await configured();
    const started = await sessions.start({
      ...chat,
      externalId: 'a/1',
      tags: ['t'],
      expiresAt: new Date(Date.now() + 60_000),
    });
    expect(started.createdAt).toBeInstanceOf(Date);
    expect(started.expiresAt).toBeInstanceOf(Date);
    expect((await sessions.retrieve('a/1')).id).toBe(started.id);
    for (let n = 0; n < 3; n++) await sessions.start({ ...chat, externalId: `b${n}` });
    const names = (await allOf(sessions.list({ limit: 2, type: 'chat' }))).map(
      ({ externalId }) => externalId,
    );
    expect(names).toEqual(['b2', 'b1', 'b0', 'a/1']);
    expect((await sessions.update(started, { tags: [], metadata: { m: 1 } })).metadata).toEqual({ m: 1 });
    expect((await sessions.close('a/1', { reason: 'done' })).closedAt).toBeInstanceOf(Date);
    expect((await sessions.list({ status: 'CLOSED' })).data).toHaveLength(1);
    await expect(sessions.open('a/1').in.send('late')).rejects.toMatchObject({ status: 400 });
    await expect(sessions.start({ ...chat, externalId: 'a/1' })).rejects.toMatchObject({ status: 409 });
    expect(() => sessions.open('')).toThrow(/Pass the id/);
  });
});

describe('.out', () => {
  test('is written by append, pipe and writer, and read with control records', async () => {
    await configured();
    const { id, publicAccessToken } = await sessions.start({ ...chat, externalId: 'a' });
    const { out } = sessions.open(id);
    expect(await out.append({ text: 'ü', nested: [null, 1] })).toBe(0);
    async function* source() {
      for (let n = 0; n < 1_200; n++) yield `${n} `;
    }
    expect(await out.pipe(source())).toBe(1_200);
    expect(
      await out.pipe(new ReadableStream({ start: (c) => (c.enqueue('x'), c.enqueue('y'), c.close()) })),
    ).toBe(2);
    const writer = out.writer<string>();
    const written = Array.from({ length: 50 }, (_, n) => writer.write(`w${n}`));
    await writer.close();
    expect(await Promise.all(written)).toEqual(Array.from({ length: 50 }, (_, n) => 1_203 + n));
    expect(await out.writeControl('turn-complete', { 'public-access-token': 't' })).toBe(1_253);

    await auth.withAuth({ accessToken: publicAccessToken }, async () => {
      const controls: unknown[] = [];
      const seqs: number[] = [];
      const own = sessions.open('a').out;
      const chunks = await allOf(
        own.read({
          timeoutInSeconds: 1,
          onControl: (each) => controls.push(each),
          onEventId: (seq) => seqs.push(seq),
        }),
      );
      expect(chunks).toEqual([
        { text: 'ü', nested: [null, 1] },
        ...Array.from({ length: 1_200 }, (_, n) => `${n} `),
        'x',
        'y',
        ...Array.from({ length: 50 }, (_, n) => `w${n}`),
      ]);
      expect(controls).toEqual([
        {
          subtype: 'turn-complete',
          seq: 1_253,
          headers: { 'trigger-control': 'turn-complete', 'public-access-token': 't' },
        },
      ]);
      expect(seqs).toEqual(Array.from({ length: 1_254 }, (_, n) => n));
      expect(await allOf(own.read({ lastEventId: 1_250, timeoutInSeconds: 1 }))).toEqual(['w48', 'w49']);
      await expect(own.append('no')).rejects.toMatchObject({ status: 403 });
      await expect(allOf(sessions.open('b').out.read())).rejects.toMatchObject({ status: 403 });
    });
    const stop = new AbortController();
    const reading = allOf(out.read({ signal: stop.signal }));
    stop.abort();
    expect(await reading).toEqual([]);
  });

  test('fails a pipe at a value that cannot be serialized, and writes nothing after it', async () => {
    await configured();
    const { id } = await sessions.start(chat);
    const { out } = sessions.open(id);
    await expect(out.pipe(['a', 'x'.repeat(1_048_577), 'b'])).rejects.toMatchObject({ status: 413 });
    expect(await allOf(out.read({ timeoutInSeconds: 1 }))).toEqual(['a']);
    await expect(out.append(() => 1)).rejects.toThrow(/function/);
  });
});

describe('.in', () => {
  test('delivers messages one by one, and resumes after the last completed turn', async () => {
    await configured();
    const { id } = await sessions.start(chat);
    const session = sessions.open(id);
    await session.in.send({ n: 1 });
    await session.in.send('two');
    expect(await session.in.peek()).toMatchObject({ data: { n: 1 }, seq: 0 });
    expect(await session.in.wait()).toEqual({ ok: true, output: { n: 1 } });
    const none = session.in.wait({ timeoutInSeconds: 1 });
    expect(await none.unwrap()).toBe('two');
    await session.out.writeControl('turn-complete');
    expect(await session.in.wait({ timeoutInSeconds: 1 })).toEqual({
      ok: false,
      error: expect.any(SessionTimeoutError),
    });
    expect(await session.in.peek()).toBeUndefined();
    // A message that arrives between a read and a wait, or during the wait, ends the wait.
    await session.in.send(3);
    expect(await session.in.wait().unwrap()).toBe(3);
    const waiting = session.in.wait().unwrap();
    await session.in.send({ four: 4 });
    expect(await waiting).toEqual({ four: 4 });

    // After a run dies in a long turn, the next one begins with the message of that turn.
    await session.out.writeControl('turn-complete');
    await session.in.send('long');
    await session.out.pipe(Array.from({ length: 1_500 }, (_, n) => n));
    const next = sessions.open(id);
    expect(await next.in.wait({ timeoutInSeconds: 5 }).unwrap()).toBe('long');
    expect(await session.in.wait({ timeoutInSeconds: 5 }).unwrap()).toBe('long');

    const got: unknown[] = [];
    const listening = session.in.on(({ data }) => void got.push(data));
    for (const n of [5, 6, 7]) await session.in.send(n);
    await expect.poll(() => got, { timeout: 20_000 }).toEqual([5, 6, 7]);
    listening.off();
  });
});

test('a message that a wait consumed is not consumed again by a slow listener', async () => {
  await configured();
  const { id } = await sessions.start(chat);
  const session = sessions.open(id);
  for (const n of [0, 1, 2]) await session.in.send(n);
  const got: unknown[] = [];
  const go: (() => void)[] = [];
  const listening = session.in.on(async ({ data }) => {
    got.push(data);
    await new Promise<void>((resolve) => go.push(resolve));
  });
  await expect.poll(() => got, { timeout: 20_000 }).toEqual([0]);
  expect(await session.in.wait().unwrap()).toBe(1);
  expect(await session.in.wait().unwrap()).toBe(2);
  go.shift()?.();
  await expect.poll(() => got, { timeout: 20_000 }).toEqual([0, 1]);
  await session.in.send(3);
  expect(await session.in.wait().unwrap()).toBe(3);
  listening.off();
});

describe('a wait outside a run', () => {
  test('ends when the session closes or expires, after the earlier messages', async () => {
    await configured();
    const { id } = await sessions.start(chat);
    const session = sessions.open(id);
    await session.in.send('left');
    const other = sessions.open(id);
    const waiting = other.in.wait();
    expect(await waiting).toEqual({ ok: true, output: 'left' });
    const endless = other.in.wait();
    await sessions.close(id, { reason: 'done' });
    expect(await session.in.wait().unwrap()).toBe('left');
    const ended = await session.in.wait({ timeoutInSeconds: 60 });
    expect(ended).toEqual({ ok: false, error: expect.any(SessionClosedError) });
    await expect(session.in.wait().unwrap()).rejects.toThrow(/was closed at .*: done$/);
    await expect(endless.unwrap()).rejects.toThrow(SessionClosedError);
    const short = await sessions.start({ ...chat, expiresAt: new Date(Date.now() + 1_500) });
    const late = sessions.open(short.id).in;
    await expect(late.wait({ timeoutInSeconds: 1 }).unwrap()).rejects.toThrow(SessionTimeoutError);
    await expect(late.wait().unwrap()).rejects.toThrow(/has expired at/);
  }, 60_000);
});

describe('a connection', () => {
  test(
    'cut every few milliseconds, between two servers, delivers each record once',
    { timeout: 60_000 * Math.max(1, scale) },
    async () => {
      const { connection, drop } = await testDatabase();
      const options = {
        database: connection,
        port: 0,
        masterKey: masterKeyOf(Buffer.alloc(32, 1)),
        log: createLog({ write() {} }),
      };
      const server = await startServer(options);
      const other = await startServer(options);
      const proxy = await cuttingProxy([server.port, other.port], () => 20 + Math.random() * 180);
      onTestFinished(async () => {
        proxy.close();
        await Promise.all([server.close(), other.close()]);
        await drop();
      });
      const secretKey = server.credentials?.environments.prod.secretKey ?? '';
      configure({ baseURL: server.url, secretKey });
      const { id } = await sessions.start(chat);
      const writer = sessions.open(id);
      configure({ baseURL: proxy.url, secretKey, retry: { minTimeoutInMs: 10, maxAttempts: 50 } });
      const reader = sessions.open(id);
      // Fewer records would be delivered before the connection is cut several times.
      const count = 5_000 * Math.ceil(scale);
      const got: number[] = [];
      const reading = (async () => {
        for await (const n of reader.out.read<number>({ timeoutInSeconds: 60 })) {
          got.push(n);
          if (got.length === count) return;
        }
      })();
      const writing = (async () => {
        for (let n = 0; n < count; n += 100) {
          await writer.out.pipe(Array.from({ length: 100 }, (_, index) => n + index));
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      })();
      // Sends through the proxy are retried under the same part id.
      const sent = 40;
      for (let n = 0; n < sent; n++) await reader.in.send(n);
      await writing;
      await reading;
      expect(got).toEqual(Array.from({ length: count }, (_, n) => n));
      expect(proxy.cuts()).toBeGreaterThan(5);
      configure({ baseURL: server.url, secretKey });
      const session = sessions.open(id);
      for (let n = 0; n < sent; n++) expect(await session.in.wait({ timeoutInSeconds: 5 }).unwrap()).toBe(n);
      expect(await session.in.peek()).toBeUndefined();
    },
  );
});
