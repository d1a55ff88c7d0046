import { describe, expect, test } from 'vitest';
import { address, dataOf, sessionServer, type SessionServer } from './session-server.ts';

/** Calls every route under both names, and with a token of the other name. */
async function roundTrip(server: SessionServer, externalId: string): Promise<void> {
  const { id, publicAccessToken } = await server.start({ externalId });
  expect(
    (await server.ask(`/api/v1/sessions/${address(externalId)}`, { key: publicAccessToken })).body,
  ).toMatchObject({
    id,
    externalId: externalId.trim(),
  });
  const sent = await server.ask(`/realtime/v1/sessions/${address(externalId)}/in/append`, {
    method: 'POST',
    body: 'hi',
    key: publicAccessToken,
  });
  expect(sent.body).toEqual({ ok: true, seq: 0 });
  await server.append(externalId, 'out', 'answer');
  for (const path of [externalId, id]) {
    const reader = await server.follow(`${address(path)}/out`, { key: publicAccessToken });
    expect((await reader.records(1)).map(dataOf)).toEqual(['answer']);
    await reader.cancel();
    expect((await server.ask(`/realtime/v1/sessions/${address(path)}/in/records`)).body.records).toHaveLength(
      1,
    );
    const head = await fetch(`${server.url}/realtime/v1/sessions/${address(path)}/out`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${publicAccessToken}` },
    });
    expect([head.status, head.headers.get('x-last-chunk-index')]).toEqual([200, '0']);
  }
  expect(
    (await server.ask(`/api/v1/sessions?filter[externalId]=${address(externalId)}`)).body.data,
  ).toHaveLength(1);
  const patched = await server.ask(`/api/v1/sessions/${address(externalId)}`, {
    method: 'PATCH',
    body: { tags: ['t'], externalId },
  });
  expect(patched.body.tags).toEqual(['t']);
  const closed = await server.ask(`/api/v1/sessions/${address(externalId)}/close`, {
    method: 'POST',
    body: {},
  });
  expect(closed.status).toBe(200);
}

describe('an external id', () => {
  test('may be nearly any text, on every route and in a scope', { timeout: 60_000 }, async () => {
    const server = await sessionServer();
    for (const externalId of [
      'a b/ü?#%:1',
      '...',
      '%2e%2e',
      '💡🧵',
      'read:sessions:x',
      'x'.repeat(256),
      '漢'.repeat(256),
      '💡'.repeat(128),
      'in',
      'run_1',
      'sessions_x',
      '"\\\nx',
    ])
      await roundTrip(server, externalId);
  });

  test('is rejected if it looks like an id, or cannot be part of a URL or stored', async () => {
    const server = await sessionServer();
    for (const externalId of ['session_x', '.', '..', '', '  ', 'x'.repeat(257), 'a\u0000b', '\ud800']) {
      await expect(server.start({ externalId }), JSON.stringify(externalId)).rejects.toThrow(/externalId/);
    }
    expect((await server.ask('/api/v1/sessions')).body.data).toEqual([]);
  });

  test('without a session has an empty channel that can be followed until the session exists', async () => {
    const server = await sessionServer();
    const reader = await server.follow(`${address('to come')}/out`);
    expect(reader.status).toBe(200);
    expect((await server.ask(`/realtime/v1/sessions/${address('to come')}/out/records`)).body).toEqual({
      records: [],
    });
    await server.start({ externalId: 'to come' });
    await server.append('to come', 'out', 'first');
    expect((await reader.records(1)).map(dataOf)).toEqual(['first']);
    await reader.cancel();
    expect((await server.append('nobody', 'in', 'x')).status).toBe(404);
    for (const path of ['session_nobody/out', 'session_nobody/out/records'])
      expect((await server.ask(`/realtime/v1/sessions/${path}`)).status).toBe(404);
  });
});

describe('a side channel', () => {
  test('exists in addition to the two channels of its session', async () => {
    const server = await sessionServer();
    await server.start({ externalId: 'a' });
    const side = '/realtime/v1/sessions/a/channels/notes';
    for (const n of [0, 1]) {
      const sent = await server.ask(`${side}/in/append`, {
        method: 'POST',
        body: `${n}`,
        headers: { 'x-part-id': `${n}` },
      });
      expect(sent.body).toEqual({ ok: true, seq: n });
    }
    expect((await server.append('a', 'in', 'main')).body.seq).toBe(0);
    const reader = await server.follow('a/channels/notes/in');
    expect((await reader.records(2)).map(dataOf)).toEqual(['0', '1']);
    await reader.cancel();
    expect(
      (await server.ask('/realtime/v1/sessions/a/channels/a%20b/in/append', { method: 'POST', body: 'x' }))
        .status,
    ).toBe(400);
    expect((await server.ask('/realtime/v1/sessions/a/other')).status).toBe(404);
  });
});
