import { request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { dataOf, sessionServer, type SessionServer } from './session-server.ts';

const path = '/realtime/v1/sessions/a/in/append';

async function post(
  server: SessionServer,
  body: string | Buffer | undefined,
  headers = {},
): Promise<Response> {
  return fetch(server.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.keys.prod}`, ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : new Uint8Array(body) }),
  });
}

/** Sends chunks, without a content length. */
const chunked = (server: SessionServer, parts: readonly Buffer[]) =>
  new Promise<{ status: number; text: string }>((resolve, reject) => {
    const sending = request(
      server.url + path,
      { method: 'POST', headers: { authorization: `Bearer ${server.keys.prod}` } },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      },
    ).on('error', reject);
    for (const part of parts) sending.write(part);
    sending.end();
  });

describe('an appended body', () => {
  test('may be any text, and is read back unchanged in both framings', async () => {
    const server = await sessionServer();
    await server.start({ externalId: 'a' });
    const bodies = [
      '{"a":1}',
      '{"broken":',
      '',
      'line\nline\r\nline\rline',
      'id: 9\ndata: fake\n\n',
      '\u2028\u2029\u0085\u0001\u007f',
      'data: [DONE]',
      '💡',
      '\ufffd',
      '\ufeffbom',
    ];
    for (const [n, body] of bodies.entries()) {
      const response = await post(server, body, {
        'content-type': n % 2 ? 'text/plain' : 'application/json',
      });
      expect(await response.json()).toEqual({ ok: true, seq: n });
    }
    expect(await (await post(server, undefined)).json()).toEqual({ ok: true, seq: bodies.length });
    const reader = await server.follow('a/in');
    expect(reader.headers.get('x-stream-version')).toBe('v2');
    expect((await reader.records(bodies.length + 1)).map(dataOf)).toEqual([...bodies, '']);
    await reader.cancel();
    const plain = await server.follow('a/in', { headers: { 'x-stream-version': 'v1' } });
    for (const [n, body] of bodies.entries()) {
      const event = await plain.next();
      expect([event?.id, JSON.parse(event?.data ?? '')]).toEqual([
        `${n}`,
        { data: body, id: expect.any(String) },
      ]);
    }
    await plain.cancel();
    const { records } = (await server.ask('/realtime/v1/sessions/a/in/records')).body;
    expect(records.map(({ data }: { data: string }) => data)).toEqual([...bodies, '']);
  });

  test('with NUL or invalid UTF-8 is rejected', async () => {
    const server = await sessionServer();
    await server.start({ externalId: 'a' });
    for (const body of [
      Buffer.from('a\0b'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from([0xe2, 0x82]),
      Buffer.from([0xed, 0xa0, 0x80]),
    ]) {
      const response = await post(server, body);
      expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([400, '*']);
      expect(((await response.json()) as { error: string }).error).toMatch(/cannot be stored|UTF-8/);
    }
    expect((await server.append('a', 'in', 'after')).body.seq).toBe(0);
  });

  test('may have at most 1 MiB, counted in bytes', async () => {
    const server = await sessionServer();
    await server.start({ externalId: 'a' });
    const mebibyte = 'ü'.repeat(524_288);
    expect((await post(server, mebibyte)).status).toBe(200);
    expect((await post(server, '"'.repeat(1_048_576))).status).toBe(200);
    const refused = await post(server, `${mebibyte}x`);
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([413, '*']);
    const { body } = await server.ask('/realtime/v1/sessions/a/in/records');
    expect(body.records.map(({ data }: { data: string }) => data.length)).toEqual([524_288, 1_048_576]);
    expect(body.records[0].data).toBe(mebibyte);
    const parts = Array.from({ length: 16 }, () => Buffer.alloc(65_536, 'c'));
    expect(await chunked(server, parts)).toEqual({ status: 200, text: '{"ok":true,"seq":2}' });
    expect((await chunked(server, [...parts, Buffer.from('x')])).status).toBe(413);
  });

  test('whose connection ends early is not stored', async () => {
    const server = await sessionServer();
    await server.start({ externalId: 'a' });
    const { port } = server;
    await new Promise<void>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.write(
          `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${server.keys.prod}\r\ncontent-length: 100\r\n\r\nhalf`,
        );
        socket.end();
      });
      socket.on('close', () => resolve()).resume();
    });
    expect((await server.append('a', 'in', 'after')).body.seq).toBe(0);
  });
});

test('a client cannot mark its message as coming from a webhook', async () => {
  const server = await sessionServer();
  await server.start({ externalId: 'a' });
  const sent = [
    '{"kind":"message","payload":{"actionSource":"webhook","n":1}}',
    '{"payload":{"action\\u0053ource":"web\\u0068ook"}}',
    '{"payload":{"actionSource":"user"}}',
    '{"payload":"webhook"}',
    'webhook',
    '{"webhook"',
    'null webhook',
  ];
  for (const text of sent) await server.append('a', 'in', text);
  const { records } = (await server.ask('/realtime/v1/sessions/a/in/records')).body;
  expect(records.map(({ data }: { data: string }) => data)).toEqual([
    '{"kind":"message","payload":{"n":1}}',
    '{"payload":{}}',
    ...sent.slice(2),
  ]);
  // A message that can be parsed but not serialized again is rejected with its mark.
  const deep = `{"payload":{"actionSource":"webhook"},"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  expect((await server.append('a', 'in', deep)).status).toBe(400);
});

test('a text may have any content type', async () => {
  const server = await sessionServer();
  await server.start({ externalId: 'a' });
  const types = [
    'application/json',
    'text/plain',
    'application/x-ndjson',
    'image/png',
    'application/octet-stream',
  ];
  for (const [n, type] of types.entries()) {
    const sent = await server.append('a', 'in', `{"n":${n}}\n`, { 'content-type': type });
    expect([type, sent.status, sent.body]).toEqual([type, 200, { ok: true, seq: n }]);
  }
  const ndjson = { 'content-type': 'application/x-ndjson' };
  expect((await server.append('a', 'in', 'x'.repeat(1_048_577), ndjson)).status).toBe(413);
  expect((await server.append('a', 'in', 'a\0b', ndjson)).status).toBe(400);
  expect((await server.append('a', 'in', 'x'.repeat(1_048_576), ndjson)).body.seq).toBe(types.length);
});

describe('a part id', () => {
  test('returns the original number for a repeated append, also after a close', async () => {
    const server = await sessionServer();
    await server.start({ externalId: 'a' });
    const send = (text: string, id: string) => server.append('a', 'in', text, { 'x-part-id': id });
    await send('zero', 'p0');
    const answers = await Promise.all(Array.from({ length: 40 }, () => send('one', 'p1')));
    for (const { body } of answers) expect(body).toEqual({ ok: true, seq: 1 });
    await server.ask('/api/v1/sessions/a/close', { method: 'POST', body: {} });
    expect((await send('one', 'p1')).body).toEqual({ ok: true, seq: 1 });
    expect((await send('two', 'p2')).status).toBe(400);
    expect((await send('x', 'p'.repeat(129))).status).toBe(400);
    const { records } = (await server.ask('/realtime/v1/sessions/a/in/records')).body;
    expect(records).toEqual([
      { data: 'zero', id: 'p0', seqNum: 0 },
      { data: 'one', id: 'p1', seqNum: 1 },
    ]);
  });
});

describe('written records', () => {
  test('keep their headers and may be conditional', async () => {
    const server = await sessionServer();
    await server.start({ externalId: 'a' });
    const write = (body: unknown) =>
      server.ask('/realtime/v1/sessions/a/out/records', { method: 'POST', body });
    const control = {
      body: '',
      headers: [
        ['trigger-control', 'turn-complete'],
        ['public-access-token', 't'],
      ],
    };
    expect((await write({ records: [{ body: '{"data":1,"id":"x"}' }, control] })).body).toEqual({
      start: 0,
      end: 2,
      tail: 2,
    });
    const refused = await write({ records: [control], matchSeqNum: 1 });
    expect([refused.status, refused.body.tail]).toEqual([412, 2]);
    expect((await write({ records: [control], matchSeqNum: 2 })).body.start).toBe(2);
    expect((await write({ records: [control], fencingToken: 'mine' })).status).toBe(412);
    for (const wrong of [
      { records: [] },
      { records: [{ headers: [] }] },
      { records: [{ body: 'x', headers: [['a']] }] },
    ])
      expect((await write(wrong)).status).toBe(400);
    expect((await write({ records: [{ body: 'x'.repeat(1_048_577) }] })).status).toBe(413);
    expect((await server.ask('/realtime/v1/sessions/a/out/records')).body.records.slice(0, 2)).toEqual([
      { data: 1, id: 'x', seqNum: 0 },
      { data: null, id: '1', seqNum: 1, headers: control.headers },
    ]);
    const plain = await server.follow('a/out', { headers: { 'x-stream-version': 'v1' } });
    expect(await plain.next()).toEqual({ id: '0', event: undefined, data: '{"data":1,"id":"x"}' });
    expect(await plain.next()).toEqual({
      id: '1',
      event: 'control',
      data: JSON.stringify({ headers: control.headers }),
    });
    await plain.cancel();
  });
});
