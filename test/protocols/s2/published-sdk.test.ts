import { connect } from 'node:http2';
import { configure, sessions } from '@trigger.dev/sdk';
import { expect, test } from 'vitest';
import {
  sessionServer,
  ownSessionServer,
  type SessionServer,
  type StreamRecord,
} from '../../sessions/session-server.ts';
import { breakable } from '../../support/breakable.ts';

const chat = { type: 'chat.agent', taskIdentifier: 'chat', triggerConfig: { basePayload: {} } };

async function recordsOf(server: SessionServer, session: string, count: number): Promise<StreamRecord[]> {
  const reader = await server.follow(`${encodeURIComponent(session)}/out`);
  const records = await reader.records(count);
  await reader.cancel();
  return records;
}

const dataIn = (records: readonly StreamRecord[]): unknown[] =>
  records.filter(({ body }) => body !== '').map(({ body }) => (JSON.parse(body) as { data: unknown }).data);

test('the published SDK writes to .out: append, pipe, writer, control records and trim', async () => {
  const server = await sessionServer();
  configure({ baseURL: server.url, accessToken: server.keys.prod });
  const name = 'chat/1 ünï 🙂';
  await sessions.start({ ...chat, externalId: name });
  const { out } = sessions.open(name);

  await out.append({ n: 0 });
  const piped = out.pipe(
    (async function* chunks() {
      for (let n = 1; n <= 300; n++) yield { n, text: 'ü\n\u2028' };
    })(),
  );
  await piped.waitUntilComplete();
  const written = out.writer({
    execute: ({ write }) => {
      write({ n: 301 });
      write({ n: 302 });
    },
  });
  await written.waitUntilComplete();
  const { lastEventId } = await out.writeControl('turn-complete', [['public-access-token', 't']]);
  expect(lastEventId).toBe('303');

  const records = await recordsOf(server, name, 304);
  expect(records.map(({ seq_num }) => seq_num)).toEqual(Array.from({ length: 304 }, (_, n) => n));
  expect(dataIn(records).map((data) => (data as { n: number }).n)).toEqual(
    Array.from({ length: 303 }, (_, n) => n),
  );
  expect(dataIn(records)[7]).toEqual({ n: 7, text: 'ü\n\u2028' });
  expect(records[303]?.headers).toEqual([
    ['trigger-control', 'turn-complete'],
    ['public-access-token', 't'],
  ]);

  await out.trimTo(303);
  const left = await recordsOf(server, name, 2);
  expect(left.map(({ seq_num, headers }) => [seq_num, headers?.[0]])).toEqual([
    [303, ['trigger-control', 'turn-complete']],
    [304, ['', 'trim']],
  ]);
});

test('a writer whose connection breaks resumes without lost or duplicate records', async () => {
  const server = await sessionServer();
  const way = await breakable(server.port);
  configure({ baseURL: way.url, accessToken: server.keys.prod });
  const { id } = await sessions.start({ ...chat, externalId: 'broken' });
  const piped = sessions.open('broken').out.pipe(
    (async function* chunks() {
      for (let n = 0; n < 60; n++) {
        yield { n };
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })(),
  );
  for (let n = 0; n < 3; n++) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    way.breakAll();
  }
  await piped.waitUntilComplete();
  const records = await recordsOf(server, id, 60);
  expect(dataIn(records)).toEqual(Array.from({ length: 60 }, (_, n) => ({ n })));
});

test('only the token of a stream may append to it, over either protocol', async () => {
  const server = await ownSessionServer();
  const { publicAccessToken } = await server.start({ externalId: 'one' });
  await server.start({ externalId: 'two' });
  const initialize = async (session: string, key?: string) => {
    const { status, headers } = await server.ask(`/realtime/v1/sessions/${session}/out`, {
      method: 'PUT',
      ...(key !== undefined && { key }),
    });
    return {
      status,
      token: headers.get('x-s2-access-token') ?? '',
      stream: headers.get('x-s2-stream-name') ?? '',
    };
  };
  const first = await initialize('one');
  const two = await initialize('two');
  expect([first.status, (await initialize('one', publicAccessToken)).status]).toEqual([202, 403]);
  const append = (stream: string, key: string, body: unknown = { records: [{ body: 'x' }] }) =>
    server.ask(`/s2/v1/streams/${stream}/records`, { method: 'POST', key, body });
  expect((await append(first.stream, first.token)).body).toMatchObject({
    start: { seq_num: 0 },
    end: { seq_num: 1 },
  });
  for (const key of [two.token, publicAccessToken, server.keys.prod]) {
    expect((await append(first.stream, key)).status).toBe(403);
  }
  for (const key of ['', 'garbage', `${first.token.slice(0, -2)}xx`]) {
    expect((await append(first.stream, key)).status).toBe(401);
  }
  // It gives access to nothing else.
  expect((await server.ask('/api/v1/runs', { key: first.token })).status).toBe(403);
  expect(
    await append(first.stream, first.token, { records: [{ body: 'y' }], match_seq_num: 7 }),
  ).toMatchObject({
    status: 412,
    body: { seq_num_mismatch: 1 },
  });
  expect(await append(first.stream, first.token, '{"records":')).toMatchObject({ status: 400 });
  expect(await append(first.stream, first.token, { records: [] })).toMatchObject({ status: 400 });
  await server.ask('/api/v1/sessions/one/close', { method: 'POST', body: {} });
  expect(await append(first.stream, first.token)).toMatchObject({
    status: 400,
    body: { code: 'bad_request' },
  });

  const session = connect(server.url);
  const statusOf = (authorization: string) =>
    new Promise<number>((resolve, reject) => {
      const stream = session.request({
        ':method': 'POST',
        ':path': `/s2/v1/streams/${first.stream}/records`,
        authorization,
      });
      stream.on('response', (headers) => resolve(Number(headers[':status'])));
      stream.on('error', reject);
    });
  expect(await statusOf(`Bearer ${two.token}`)).toBe(403);
  expect(await statusOf('')).toBe(401);
  session.close();
});
