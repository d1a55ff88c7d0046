import { apiClientManager } from '@trigger.dev/core/v3';
import { auth, configure, sessions } from '@trigger.dev/sdk';
import { expect, test } from 'vitest';
import { sessionServer, ownSessionServer } from './session-server.ts';

const chat = { type: 'chat.agent', taskIdentifier: 'chat', triggerConfig: { basePayload: { a: 1 } } };

async function readAll(stream: AsyncIterable<unknown>): Promise<unknown[]> {
  const chunks: unknown[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

test('the published SDK starts, retrieves, lists, updates and closes sessions', async () => {
  const server = await ownSessionServer();
  configure({ baseURL: server.url, accessToken: server.keys.prod });
  const started = await sessions.start({ ...chat, externalId: 'chat/1', tags: ['t'], metadata: { m: 1 } });
  expect(started).toMatchObject({ externalId: 'chat/1', isCached: false, closedAt: null });
  expect((await sessions.start({ ...chat, externalId: 'chat/1' })).isCached).toBe(true);
  expect(await sessions.retrieve('chat/1')).toMatchObject({ id: started.id, currentRunId: started.runId });
  const listed: string[] = [];
  for await (const each of sessions.list({ tag: 't', limit: 5 })) listed.push(each.id);
  expect(listed).toEqual([started.id]);
  expect(await sessions.update('chat/1', { tags: ['z'], metadata: null })).toMatchObject({
    tags: ['z'],
    metadata: null,
  });
  expect(await sessions.close('chat/1', { reason: 'done' })).toMatchObject({ closedReason: 'done' });
});

test('the published SDK sends to .in and reads .out, with control records and a resumed position', async () => {
  const server = await ownSessionServer();
  configure({ baseURL: server.url, accessToken: server.keys.prod });
  const { id, publicAccessToken } = await sessions.start({ ...chat, externalId: 'chat/1' });
  const handle = sessions.open('chat/1');
  await handle.in.send({ text: 'hi' });
  await handle.in.send('plain');
  const client = apiClientManager.clientOrThrow();
  const sent = await client.readSessionStreamRecords(id, 'in');
  expect(sent.records.map(({ data }) => data)).toEqual(['{"text":"hi"}', 'plain']);
  expect((await client.readSessionStreamRecords(id, 'in', { afterEventId: '0' })).records).toHaveLength(1);

  for (const text of ['one', 'two']) await client.appendToSessionStream(id, 'out', JSON.stringify({ text }));
  await server.ask(`/realtime/v1/sessions/${id}/out/records`, {
    method: 'POST',
    body: { records: [{ body: '', headers: [['trigger-control', 'turn-complete']] }] },
  });
  await client.appendToSessionStream(id, 'out', JSON.stringify({ text: 'three' }));

  const read = async (options: { lastEventId?: number | string }) => {
    const controls: unknown[] = [];
    const chunks: unknown[] = [];
    const stream = await handle.out.read({
      timeoutInSeconds: 1,
      onControl: (event: unknown) => controls.push(event),
      ...options,
    });
    for await (const chunk of stream) chunks.push(typeof chunk === 'string' ? JSON.parse(chunk) : chunk);
    return { chunks, controls };
  };
  const whole = await read({});
  expect(whole.chunks).toEqual([{ text: 'one' }, { text: 'two' }, { text: 'three' }]);
  expect(whole.controls).toMatchObject([{ subtype: 'turn-complete' }]);
  expect((await read({ lastEventId: '1' })).chunks).toEqual([{ text: 'three' }]);

  // The token of the start reads .out and writes .in under both names, and nothing else.
  await auth.withAuth({ baseURL: server.url, accessToken: publicAccessToken }, async () => {
    const own = sessions.open(id);
    await own.in.send('from a browser');
    const [first] = await readAll(await own.out.read({ timeoutInSeconds: 1 }));
    expect(first).toBeDefined();
    await expect(sessions.close('chat/1')).rejects.toMatchObject({ status: 403 });
    await expect(apiClientManager.clientOrThrow().readSessionStreamRecords(id, 'in')).rejects.toMatchObject({
      status: 403,
    });
  });
});

test('a token that the published SDK creates may be for a part of a session', async () => {
  const server = await sessionServer();
  configure({ baseURL: server.url, accessToken: server.keys.prod });
  const { id } = await sessions.start({ ...chat, externalId: 'mine' });
  await sessions.start({ ...chat, externalId: 'other' });
  const channels = {
    own: ['GET', 'mine/out'],
    byId: ['GET', `${id}/out`],
    side: ['GET', 'mine/channels/side/out'],
    else: ['GET', 'mine/channels/else/out'],
    other: ['GET', 'other/out'],
    incoming: ['GET', 'mine/in'],
    send: ['POST', 'mine/in/append'],
    sendSide: ['POST', 'mine/channels/side/in/append'],
  } as const;
  const open = async (scopes: NonNullable<Parameters<typeof auth.createPublicToken>[0]>['scopes']) => {
    const key = await auth.createPublicToken({ scopes });
    const requests = Object.entries(channels).map(async ([name, [method, path]]) => {
      const { status } = await fetch(`${server.url}/realtime/v1/sessions/${path}`, {
        method,
        headers: { authorization: `Bearer ${key}` },
        ...(method === 'POST' && { body: 'x' }),
        // A stream has sent its status long before.
        signal: AbortSignal.timeout(5_000),
      });
      return [name, status] as const;
    });
    return (await Promise.all(requests)).flatMap(([name, status]) => (status === 200 ? [name] : []));
  };
  expect(await open({ read: { sessions: 'mine' } })).toEqual(['own', 'byId', 'side', 'else']);
  expect(await open({ read: { sessions: 'mine:out' } })).toEqual(['own', 'byId']);
  expect(await open({ read: { sessions: `${id}:out` } })).toEqual(['own', 'byId']);
  expect(await open({ read: { sessions: 'mine:channels:side' } })).toEqual(['side']);
  expect(await open({ read: { sessions: 'mine:channels:side:out' } })).toEqual(['side']);
  expect(await open({ write: { sessions: 'mine:channels:side' } })).toEqual(['sendSide']);
  expect(await open({ write: { sessions: 'mine:out' } })).toEqual([]);
  // Covers the whole session with that name, and no part of this one.
  await sessions.start({ ...chat, externalId: 'mine:out' });
  expect(await open({ read: { sessions: 'mine:out' } })).toEqual([]);
});

test('a token that the published SDK creates reads one session only', async () => {
  const server = await sessionServer();
  configure({ baseURL: server.url, accessToken: server.keys.prod });
  const { id } = await sessions.start({ ...chat, externalId: 'mine' });
  await sessions.start({ ...chat, externalId: 'other' });
  const token = await auth.createPublicToken({
    scopes: { read: { sessions: ['mine', 'else'] }, write: { sessions: 'mine' } },
  });
  const ask = (path: string) => server.ask(path, { key: token });
  expect((await ask(`/api/v1/sessions/${id}`)).status).toBe(200);
  expect((await ask('/api/v1/sessions/mine')).status).toBe(200);
  expect((await ask('/api/v1/sessions/other')).status).toBe(403);
  expect((await ask('/api/v1/sessions/else')).status).toBe(404);
  expect((await ask('/api/v1/sessions/nothing')).status).toBe(403);
});
