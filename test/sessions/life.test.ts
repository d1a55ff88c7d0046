import { describe, expect, test } from 'vitest';
import { sessionServer, ownSessionServer, address, type SessionServer } from './session-server.ts';

const day = 86_400_000;
const runOf = async (server: SessionServer, id: string) => (await server.ask(`/api/v3/runs/${id}`)).body;

describe('a session', () => {
  test('starts with the run that serves it', async () => {
    const server = await sessionServer();
    const { status, body } = await server.ask('/api/v1/sessions', {
      method: 'POST',
      body: {
        type: 'chat.agent',
        externalId: ' chat/1 ',
        taskIdentifier: 'chat',
        triggerConfig: {
          basePayload: { a: 1 },
          tags: ['t'],
          machine: 'micro',
          queue: 'talk',
          maxAttempts: 2,
          maxDuration: 60,
          idleTimeoutInSeconds: 30,
        },
        tags: ['x'],
        metadata: { m: 1 },
      },
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^session_[0-9a-z]{21,26}$/) as string,
      externalId: 'chat/1',
      type: 'chat.agent',
      taskIdentifier: 'chat',
      triggerConfig: {
        basePayload: { a: 1 },
        tags: ['t'],
        machine: 'micro',
        queue: 'talk',
        maxAttempts: 2,
        maxDuration: 60,
        idleTimeoutInSeconds: 30,
      },
      currentRunId: body.runId,
      tags: ['x'],
      metadata: { m: 1 },
      closedAt: null,
      closedReason: null,
      expiresAt: null,
      createdAt: expect.any(String) as string,
      updatedAt: expect.any(String) as string,
      runId: expect.stringMatching(/^run_/) as string,
      publicAccessToken: expect.stringMatching(/^eyJ/) as string,
      isCached: false,
    });
    const run = await runOf(server, body.runId);
    expect(run).toMatchObject({
      taskIdentifier: 'chat',
      payload: { a: 1, idleTimeoutInSeconds: 30, sessionId: body.id },
      tags: ['t'],
    });
    const none = await server.ask('/api/v1/sessions/none');
    expect([none.status, none.body]).toEqual([404, { error: 'Not found' }]);
    const { runId: _, publicAccessToken: _token, isCached: _cached, ...item } = body;
    for (const path of [body.id, 'chat/1'])
      expect((await server.ask(`/api/v1/sessions/${address(path)}`)).body).toEqual(item);
  });

  test('with an existing external id returns that session, with a new trigger config and an active run', async () => {
    const server = await sessionServer();
    const first = await server.start({ externalId: 'a', tags: ['one'], metadata: { n: 1 } });
    const again = await server.start({
      externalId: 'a',
      tags: ['two'],
      metadata: { n: 2 },
      triggerConfig: { basePayload: { a: 2, message: 'hello', messages: [1], trigger: 'x' } },
    });
    expect(again).toMatchObject({
      id: first.id,
      runId: first.runId,
      isCached: true,
      tags: ['one'],
      metadata: { n: 1 },
      triggerConfig: { basePayload: { a: 2 } },
    });
    await server.endRun(first.runId);
    const third = await server.start({
      externalId: 'a',
      triggerConfig: { basePayload: { a: 3, message: 'hello', messages: [1], trigger: 'x' } },
    });
    expect(third.runId).not.toBe(first.runId);
    expect((await runOf(server, third.runId)).payload).toEqual({
      a: 3,
      sessionId: first.id,
      continuation: true,
      previousRunId: first.runId,
    });
    expect((await server.start({ externalId: 'a' }, server.keys.stg)).id).not.toBe(first.id);
  });

  test('started fifty times concurrently is created once, with one run', async () => {
    const server = await sessionServer();
    const started = await Promise.all(Array.from({ length: 50 }, () => server.start({ externalId: 'once' })));
    expect(new Set(started.map(({ id }) => id)).size).toBe(1);
    expect(new Set(started.map(({ runId }) => runId)).size).toBe(1);
    expect(started.filter(({ isCached }) => !isCached)).toHaveLength(1);
    expect((await server.ask('/api/v1/runs')).body.data).toHaveLength(1);
  });

  test('is rejected with a message that names the field', async () => {
    const server = await sessionServer();
    const good = { type: 't', taskIdentifier: 'chat', triggerConfig: { basePayload: {} } };
    const refused = async (change: Readonly<Record<string, unknown>>, status: number, text: RegExp) => {
      const answer = await server.ask('/api/v1/sessions', { method: 'POST', body: { ...good, ...change } });
      expect([answer.status, answer.body.error], JSON.stringify(change)).toEqual([
        status,
        expect.stringMatching(text),
      ]);
    };
    await refused({ type: '' }, 400, /type/);
    await refused({ type: 'x'.repeat(65) }, 400, /64/);
    await refused({ taskIdentifier: undefined }, 400, /taskIdentifier/);
    await refused({ triggerConfig: {} }, 400, /basePayload/);
    await refused({ triggerConfig: { basePayload: {}, tags: ['a', 'b', 'c', 'd', 'e', 'f'] } }, 400, /tags/);
    await refused({ triggerConfig: { basePayload: {}, maxAttempts: 11 } }, 400, /maxAttempts/);
    await refused({ triggerConfig: { basePayload: {}, machine: 'huge' } }, 400, /machine/);
    await refused({ triggerConfig: { basePayload: {}, lockToVersion: '20200101.1' } }, 422, /20200101\.1/);
    await refused({ tags: Array.from({ length: 11 }, (_, n) => `${n}`) }, 400, /tags/);
    await refused({ metadata: 'text' }, 400, /metadata/);
    for (const expiresAt of ['soon', '2026-02-30', null, true, -1, 8.64e15])
      await refused({ expiresAt }, 400, /expiresAt/);
    await refused({ metadata: { big: 'x'.repeat(33_000) } }, 413, /too large/);
    expect((await server.ask('/api/v1/sessions')).body.data).toEqual([]);
    expect((await server.ask('/api/v1/runs')).body.data).toEqual([]);
  });
});

describe('an update', () => {
  test('replaces tags and metadata, but never the external id', async () => {
    const server = await sessionServer();
    const { id } = await server.start({ externalId: 'a', tags: ['x'], metadata: { m: 1, n: 2 } });
    const update = (body: unknown) => server.ask('/api/v1/sessions/a', { method: 'PATCH', body });
    expect((await update({ tags: ['y'] })).body).toMatchObject({ id, tags: ['y'], metadata: { m: 1, n: 2 } });
    expect((await update({ metadata: { k: null } })).body).toMatchObject({
      tags: ['y'],
      metadata: { k: null },
    });
    expect((await update({ metadata: null, externalId: 'a' })).body).toMatchObject({
      metadata: null,
      tags: ['y'],
    });
    expect((await update({ externalId: 'b' })).status).toBe(422);
    expect((await update({ externalId: null })).status).toBe(422);
    expect((await server.ask('/api/v1/sessions/none', { method: 'PATCH', body: {} })).status).toBe(404);
    await server.ask('/api/v1/sessions/a/close', { method: 'POST', body: {} });
    expect((await update({ tags: [] })).body).toMatchObject({
      tags: [],
      closedAt: expect.any(String) as string,
    });
  });
});

test('a rejected append has `ok: false`, except for authorization errors', async () => {
  const server = await sessionServer();
  await server.start({ externalId: 'a' });
  const token = await server.ask('/api/v1/auth/jwt', {
    method: 'POST',
    body: { claims: { scopes: ['read:sessions:a'] } },
  });
  const { keys } = server;
  const side = 'a/channels/side';
  for (const [key, path, text, headers, status, body] of [
    [keys.prod, 'none/in', 'x', {}, 404, { ok: false, error: 'Session not found' }],
    [keys.prod, 'session_none/out', 'x', {}, 404, { ok: false, error: 'Session not found' }],
    [keys.prod, 'none/channels/side/in', 'x', {}, 404, { ok: false, error: 'Session not found' }],
    ...['a/in', 'a/out', `${side}/in`, `${side}/out`].flatMap((channel) =>
      ['text/plain', 'application/x-ndjson'].map((type) => {
        const tooLarge = { ok: false, error: 'Request body too large' };
        return [keys.prod, channel, 'x'.repeat(1_048_577), { 'content-type': type }, 413, tooLarge] as const;
      }),
    ),
    [keys.prod, 'a/in', '\0', {}, 400, { ok: false, error: expect.stringContaining('U+0000') as string }],
    [
      keys.prod,
      'a/in',
      'x',
      { 'x-part-id': 'p'.repeat(129) },
      400,
      { ok: false, error: expect.any(String) as string },
    ],
    [
      keys.prod,
      'a/in',
      'x',
      { 'content-encoding': 'gzip' },
      415,
      { ok: false, error: expect.any(String) as string },
    ],
    [token.body.token as string, 'a/in', 'x', {}, 403, { error: 'Unauthorized', code: 'unauthorized' }],
    ['tr_prod_nobody', 'a/in', 'x', {}, 401, { error: expect.any(String) as string }],
  ] as const) {
    const answer = await server.ask(`/realtime/v1/sessions/${path}/append`, {
      method: 'POST',
      key,
      body: text,
      headers,
    });
    expect([path, answer.status, answer.body]).toMatchObject([path, status, body]);
    expect(Object.keys(answer.body).includes('ok'), path).toBe(status !== 401 && status !== 403);
  }
});

describe('a close', () => {
  test('is final: it rejects appends and starts, keeps the first reason and does not affect the run', async () => {
    const server = await sessionServer();
    const { runId } = await server.start({ externalId: 'a' });
    expect((await server.append('a', 'in', 'before')).body).toEqual({ ok: true, seq: 0 });
    const close = (body: unknown) => server.ask('/api/v1/sessions/a/close', { method: 'POST', body });
    expect((await close(undefined)).status).toBe(400);
    expect((await close({ reason: 'x'.repeat(257) })).status).toBe(400);
    expect((await close({ other: 'x'.repeat(1_100) })).status).toBe(413);
    const first = await close({ reason: 'done' });
    expect(first.body).toMatchObject({ closedReason: 'done', closedAt: expect.any(String) as string });
    expect((await close({ reason: 'again' })).body).toEqual(first.body);
    for (const io of ['in', 'out'] as const) {
      const refused = await server.append('a', io, 'after');
      expect([refused.status, refused.body]).toEqual([
        400,
        { error: 'Cannot append to a closed session', ok: false },
      ]);
    }
    const side = await server.ask('/realtime/v1/sessions/a/channels/side/in/append', {
      method: 'POST',
      body: 'x',
    });
    expect(side.status).toBe(400);
    const start = await server.ask('/api/v1/sessions', {
      method: 'POST',
      body: { type: 't', taskIdentifier: 'chat', triggerConfig: { basePayload: {} }, externalId: 'a' },
    });
    expect([start.status, start.headers.get('x-should-retry')]).toEqual([409, 'false']);
    expect((await runOf(server, runId)).isCompleted).toBe(false);
    expect((await server.ask('/realtime/v1/sessions/a/in/records')).body.records).toHaveLength(1);
    expect((await server.ask('/api/v1/sessions/none/close', { method: 'POST', body: {} })).status).toBe(404);
  });

  test('happens automatically when the session expires', async () => {
    const server = await ownSessionServer();
    await server.start({ externalId: 'a', expiresAt: new Date(Date.now() + day).toISOString() });
    expect((await server.append('a', 'in', 'x')).status).toBe(200);
    server.shiftTime(day + 1_000);
    const refused = await server.append('a', 'in', 'x');
    expect([refused.status, refused.body.error]).toEqual([400, 'Cannot append to an expired session']);
    expect((await server.ask('/api/v1/sessions?filter[status]=EXPIRED')).body.data).toHaveLength(1);
    expect((await server.ask('/api/v1/sessions/a/close', { method: 'POST', body: {} })).status).toBe(200);
    expect((await server.ask('/api/v1/sessions?filter[status]=CLOSED')).body.data).toHaveLength(1);
  });
});

describe('the list', () => {
  test('returns sessions newest first, with pages in both directions', async () => {
    const server = await sessionServer();
    for (let n = 1; n <= 5; n++) {
      await server.start({
        externalId: `e${n}`,
        type: n % 2 ? 'odd' : 'even',
        taskIdentifier: n < 3 ? 'first' : 'later',
        tags: [`t${n}`, 'all'],
      });
    }
    const page = async (query: string) => {
      const { body } = await server.ask(`/api/v1/sessions?${query}`);
      return {
        names: body.data.map(({ externalId }: { externalId: string }) => externalId),
        ...body.pagination,
      };
    };
    const first = await page('page[size]=2');
    expect(first.names).toEqual(['e5', 'e4']);
    const second = await page(`page[size]=2&page[after]=${first.next}`);
    expect(second.names).toEqual(['e3', 'e2']);
    expect(await page(`page[size]=2&page[after]=${second.next}`)).toEqual({
      names: ['e1'],
      previous: expect.any(String) as string,
    });
    expect((await page(`page[size]=2&page[before]=${second.previous}`)).names).toEqual(['e5', 'e4']);
    expect((await page('filter[type]=odd,none')).names).toEqual(['e5', 'e3', 'e1']);
    expect((await page('filter[tags]=t1,t4')).names).toEqual(['e4', 'e1']);
    expect((await page('filter[taskIdentifier]=first')).names).toEqual(['e2', 'e1']);
    expect((await page('filter[externalId]=e3')).names).toEqual(['e3']);
    expect((await page('filter[status]=ACTIVE,CLOSED')).names).toHaveLength(5);
    expect((await page('filter[createdAt][period]=1h')).names).toHaveLength(5);
    expect((await page(`filter[createdAt][to]=${Date.now() - day}`)).names).toEqual([]);
    const both = await server.ask('/api/v1/sessions?page[after]=session_a&page[before]=session_b');
    expect([both.status, both.body.details[0].path]).toEqual([400, ['page[before]']]);
    for (const wrong of ['filter[status]=OPEN', 'page[after]=x', 'page[size]=101'])
      expect((await server.ask(`/api/v1/sessions?${wrong}`)).status, wrong).toBe(400);
    const [item] = (await server.ask('/api/v1/sessions')).body.data;
    expect(item).not.toHaveProperty('triggerConfig');
    expect((await server.ask('/api/v1/sessions', { key: server.keys.stg })).body.data).toEqual([]);
  });
});

describe('end and continue', () => {
  test('replaces the calling run once', async () => {
    const server = await sessionServer();
    const { id, runId } = await server.start({ externalId: 'a' });
    const swap = (callingRunId: string) =>
      server.ask('/api/v1/sessions/a/end-and-continue', {
        method: 'POST',
        body: { callingRunId, reason: 'upgrade' },
      });
    const answers = await Promise.all(Array.from({ length: 10 }, () => swap(runId)));
    const swapped = answers.filter(({ body }) => body.swapped);
    expect(swapped).toHaveLength(1);
    const next = swapped[0]?.body.runId;
    expect(new Set(answers.map(({ body }) => body.runId))).toEqual(new Set([next]));
    expect((await runOf(server, next)).payload).toMatchObject({
      sessionId: id,
      continuation: true,
      previousRunId: runId,
    });
    expect((await server.ask('/api/v1/runs')).body.data).toHaveLength(2);
    expect((await swap('run_other')).body).toEqual({ runId: next, swapped: false });
    await server.ask('/api/v1/sessions/a/close', { method: 'POST', body: {} });
    expect((await swap(next)).status).toBe(400);
  });
});
