import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { sessionServer, ownSessionServer, dataOf, type SessionServer } from './session-server.ts';

async function withRecords(count: number): Promise<SessionServer> {
  const server = await sessionServer();
  await server.start({ externalId: 'a' });
  const records = Array.from({ length: count }, (_, n) => ({
    body: JSON.stringify({ data: n, id: `${n}` }),
  }));
  if (count > 0)
    await server.ask('/realtime/v1/sessions/a/out/records', { method: 'POST', body: { records } });
  return server;
}

describe('Last-Event-ID', () => {
  test('resumes after that record', { timeout: 60_000 }, async () => {
    const server = await withRecords(5);
    let end = 5;
    for (const [id, first] of [
      [undefined, 0],
      ['', 0],
      ['0', 1],
      ['3', 4],
      ['3-7', 4],
      ['3,2,99', 4],
      ['4', 5],
      ['tail', undefined],
      ['99', undefined],
      ['99999999999999999999', undefined],
    ] as const) {
      const header = id === 'tail' ? `${end - 1}` : id;
      const reader = await server.follow('a/out', {
        headers: header === undefined ? {} : { 'last-event-id': header },
      });
      expect(reader.status).toBe(200);
      await server.ask('/realtime/v1/sessions/a/out/records', {
        method: 'POST',
        body: { records: [{ body: JSON.stringify({ data: end }) }] },
      });
      const expected = Array.from({ length: end + 1 - (first ?? end) }, (_, n) => (first ?? end) + n);
      expect((await reader.records(expected.length)).map(dataOf), id).toEqual(expected);
      await reader.cancel();
      end += 1;
    }
  });

  test('that is not a record number is rejected', async () => {
    const server = await withRecords(1);
    for (const id of ['-1', '1e3', 'x', '1.5', '0x1', '1 2']) {
      expect((await server.follow('a/out', { headers: { 'last-event-id': id } })).status, id).toBe(400);
    }
  });
});

describe('Timeout-Seconds', () => {
  test('that is not an integer from 1 to 600 is rejected', async () => {
    const server = await withRecords(0);
    for (const seconds of ['0', '601', '10abc', '-1', '1.5', '0010']) {
      expect(
        (await server.follow('a/out', { headers: { 'timeout-seconds': seconds } })).status,
        seconds,
      ).toBe(400);
    }
  });

  test('cleanly ends a stream that has had no new records for this time', async () => {
    const server = await withRecords(2);
    const began = performance.now();
    const reader = await server.follow('a/out', { headers: { 'timeout-seconds': '1' } });
    const batch = await reader.next();
    expect([batch?.id, batch?.event]).toEqual(['1,2,38', 'batch']);
    expect(await reader.next()).toEqual({ id: undefined, event: undefined, data: '[DONE]' });
    expect(await reader.next()).toBeUndefined();
    expect(performance.now() - began).toBeGreaterThanOrEqual(950);
    expect((await server.follow('a/out', { headers: { 'timeout-seconds': '600' } })).status).toBe(200);
  });
});

describe('X-Peek-Settled', () => {
  test('ends the stream immediately if the last record completes a turn', async () => {
    const server = await withRecords(2);
    const peek = { 'x-peek-settled': '1', 'last-event-id': '0' };
    const open = await server.follow('a/out', { headers: peek });
    expect(open.headers.get('x-session-settled')).toBeNull();
    await open.cancel();
    await server.ask('/realtime/v1/sessions/a/out/records', {
      method: 'POST',
      body: { records: [{ body: '', headers: [['trigger-control', 'turn-complete']] }] },
    });
    const settled = await server.follow('a/out', { headers: peek });
    expect([
      settled.headers.get('x-session-settled'),
      settled.headers.get('access-control-expose-headers'),
    ]).toEqual(['true', expect.stringContaining('x-session-settled')]);
    expect((await settled.records()).map(({ seq_num, headers }) => [seq_num, headers])).toEqual([
      [1, undefined],
      [2, [['trigger-control', 'turn-complete']]],
    ]);
  });
});

describe('a stream', () => {
  test('has the headers that proxies and browsers need', async () => {
    const server = await withRecords(1);
    const reader = await server.follow('a/out');
    expect(Object.fromEntries(reader.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'x-stream-version': 'v2',
      'access-control-allow-origin': '*',
    });
    await reader.cancel();
    const preflight = await fetch(`${server.url}/realtime/v1/sessions/a/out`, { method: 'OPTIONS' });
    expect(preflight.headers.get('access-control-allow-headers')).toMatch(
      /last-event-id, timeout-seconds, x-peek-settled/,
    );
  });

  test('is not chunked for an HTTP/1.0 client', async () => {
    const server = await withRecords(1);
    const text = await new Promise<string>((resolve) => {
      let received = '';
      const socket = connect(server.port, '127.0.0.1', () =>
        socket.write(
          `GET /realtime/v1/sessions/a/out HTTP/1.0\r\nauthorization: Bearer ${server.keys.prod}\r\ntimeout-seconds: 1\r\n\r\n`,
        ),
      );
      socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
      socket.on('close', () => resolve(received));
    });
    expect(text).not.toMatch(/transfer-encoding/);
    // A slow machine pings before the first record.
    expect(text).toMatch(/\r\n\r\n(?:event: ping\ndata: [^\n]*\n\n)*id: 0,1,19\nevent: batch\n/);
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  test('is rejected with 429 at the limit, and counts until it ends', async () => {
    const server = await ownSessionServer({ streamLimits: { subject: 2, environment: 3, process: 4 } });
    for (const externalId of ['a', 'b']) await server.start({ externalId });
    await server.start({ externalId: 'a' }, server.keys.stg);
    const [first, second] = [await server.follow('a/out'), await server.follow('a/out')];
    const full = await server.follow('a/out');
    expect([full.status, full.headers.get('retry-after')]).toEqual([429, '5']);
    await server.follow('b/out');
    expect((await server.follow('b/in')).status).toBe(429);
    await server.follow('a/out', { key: server.keys.stg });
    expect((await server.follow('a/in', { key: server.keys.stg })).status).toBe(429);
    await first.cancel();
    await expect.poll(async () => (await server.follow('a/out')).status, { timeout: 20_000 }).toBe(200);
    await second.cancel();
  });
});
