/** Waitpoint tokens over HTTP, by hand and with the published SDK. */
import { configure, wait } from '@trigger.dev/sdk';
import { describe, expect, test } from 'vitest';
import { startProject } from '../support/project.ts';
import { testServer } from '../support/server.ts';
import { sharedServer, type SharedServer } from '../support/shared-server.ts';

const path = '/api/v1/waitpoints/tokens';
const post = { method: 'POST' } as const;

async function create(
  { ask }: SharedServer,
  body?: object,
): Promise<{ id: string; url: string; isCached: boolean }> {
  const reply = await ask(path, { ...post, body });
  expect(reply.status).toBe(200);
  return reply.body;
}

describe('a token', () => {
  test('is created with a token for a browser that may complete it, and nothing else', async () => {
    const server = await sharedServer();
    const { ask } = server;
    const created = await ask(path, { ...post, body: {} });
    expect(created.body).toEqual({
      id: expect.stringMatching(/^waitpoint_[0-9a-z]{24}$/),
      isCached: false,
      url: expect.stringContaining(`${server.url}${path}/${created.body.id}/callback/`),
    });
    const key = created.headers.get('x-trigger-jwt') ?? '';
    expect(JSON.parse(created.headers.get('x-trigger-jwt-claims') ?? '')).toMatchObject({ pub: true });
    const other = await create(server);
    expect((await ask(`${path}/${other.id}/complete`, { ...post, key, body: {} })).status).toBe(403);
    expect((await ask(`${path}/${created.body.id}`, { key })).status).toBe(403);
    expect(
      (await ask(`${path}/${created.body.id}/complete`, { ...post, key, body: { data: [1] } })).body,
    ).toEqual({
      success: true,
    });
    expect((await ask(`${path}/${created.body.id}`)).body).toMatchObject({
      status: 'COMPLETED',
      output: '[1]',
      outputType: 'application/json',
      outputIsError: false,
      completedAt: expect.any(String),
    });
  });

  test('is completed once: the first of several concurrent completions counts, and all get the same response', async () => {
    const server = await sharedServer();
    const { id, url } = await create(server);
    const replies = await Promise.all([
      ...Array.from({ length: 10 }, (_, n) =>
        server.ask(`${path}/${id}/complete`, { ...post, body: { data: { n } } }),
      ),
      ...Array.from({ length: 10 }, () => fetch(url, { method: 'POST', body: '{"n":"callback"}' })),
    ]);
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    const first = (await server.ask(`${path}/${id}`)).body.output;
    await server.ask(`${path}/${id}/complete`, { ...post, body: { data: 'later' } });
    expect((await server.ask(`${path}/${id}`)).body.output).toBe(first);
  });

  test('is completed by a callback with JSON or any other text', async () => {
    const server = await sharedServer();
    const form = 'application/x-www-form-urlencoded';
    for (const [type, sent, output] of [
      ['application/json', '{"n":1}', '{"n":1}'],
      [form, '{"n":1}', '{"n":1}'],
      [form, 'a=1&b=%20', '"a=1&b=%20"'],
      ['text/xml', '<a>é</a>', '"<a>é</a>"'],
      [form, '', undefined],
    ] as const) {
      const { id, url } = await create(server);
      const reply = await fetch(url, { method: 'POST', body: sent, headers: { 'content-type': type } });
      expect([reply.status, await reply.json()]).toEqual([200, { success: true }]);
      const { body } = await server.ask(`${path}/${id}`);
      expect([body.status, body.output]).toEqual(['COMPLETED', output]);
    }
    const { id, url } = await create(server);
    const headers = { 'content-type': 'application/json' };
    const broken = await fetch(url, { method: 'POST', body: '{"n":', headers });
    expect([broken.status, await broken.json()]).toEqual([400, { error: 'Invalid JSON' }]);
    const bytes = await fetch(url, {
      method: 'POST',
      body: new Uint8Array([255]),
      headers: { 'content-type': form },
    });
    expect(bytes.status).toBe(400);
    expect((await server.ask(`${path}/${id}`)).body.status).toBe('WAITING');
  });

  test('times out with an error, and can then no longer be completed', async () => {
    const server = await testServer();
    const { id } = await create(server, { timeout: '1h' });
    expect((await server.ask(`${path}/${id}`)).body).toMatchObject({ status: 'WAITING', tags: [] });
    server.shiftTime(3_600_001);
    await expect
      .poll(async () => (await server.ask(`${path}/${id}`)).body, { timeout: 20_000 })
      .toMatchObject({
        status: 'TIMED_OUT',
        outputIsError: true,
        output: expect.stringContaining('TIMEOUT'),
      });
    expect((await server.ask(`${path}/${id}/complete`, { ...post, body: {} })).body).toEqual({
      success: true,
    });
    expect((await server.ask(`${path}/${id}`)).body.status).toBe('TIMED_OUT');
  });

  test('is the same for the same idempotency key, until the key has expired', async () => {
    const server = await testServer();
    const options = { idempotencyKey: 'order-1', idempotencyKeyTTL: '1h' };
    const created = await Promise.all(Array.from({ length: 5 }, () => create(server, options)));
    expect(new Set(created.map(({ id }) => id)).size).toBe(1);
    expect(created.filter(({ isCached }) => !isCached)).toHaveLength(1);
    server.shiftTime(3_600_001);
    expect(await create(server, options)).toMatchObject({ isCached: false });
  });

  test('lists its waiting runs for callers that may read runs', async () => {
    const server = await sharedServer();
    const { ask } = server;
    await startProject(server, {
      'tasks/hold.ts': `
        import { task, wait } from '@millrace/sdk';
        export const hold = task({ id: 'hold', run: async (id: string) => wait.forToken(id).unwrap() });
      `,
    });
    const { id } = await create(server);
    expect((await ask(`${path}/${id}`)).body.waitingRuns).toEqual([]);
    const trigger = () => ask('/api/v1/tasks/hold/trigger', { ...post, body: { payload: id } });
    const runs = [(await trigger()).body.id, (await trigger()).body.id];
    await expect
      .poll(async () => (await ask(`${path}/${id}`)).body.waitingRuns, { timeout: 20_000 })
      .toEqual(
        runs
          .toSorted((a: string, b: string) => (a < b ? -1 : 1))
          .map((run) => ({ id: run, taskIdentifier: 'hold' })),
      );
    const scopes = [`read:waitpoints:${id}`];
    const minted = await ask('/api/v1/auth/public-tokens', { ...post, body: { scopes } });
    const seen = await ask(`${path}/${id}`, { key: minted.body.token });
    expect(seen).toMatchObject({ status: 200, body: { id, status: 'WAITING' } });
    expect(seen.body).not.toHaveProperty('waitingRuns');
    const details = async (key?: string) =>
      (await ask(`${path}/${id}?details=true`, key === undefined ? {} : { key })).body.details;
    expect(await details(minted.body.token)).toEqual({});
    expect((await details()).runs).toEqual(
      runs
        .toSorted((a: string, b: string) => (a < b ? -1 : 1))
        .map((run) => ({ id: run, taskIdentifier: 'hold', since: expect.any(String), isWaiting: true })),
    );
    await ask(`${path}/${id}/complete`, { ...post, body: {} });
    expect((await ask(`${path}/${id}`)).body).not.toHaveProperty('waitingRuns');
    // The runs remain linked.
    const ended = await details();
    expect(ended.runs).toMatchObject([{ isWaiting: false }, { isWaiting: false }]);
    expect(ended.completedBy).toEqual({ type: 'secretKey', id: expect.any(String) });
    const listed = (await ask(`${path}?details=true`)).body.data;
    expect(listed.find((token: { id: string }) => token.id === id).details).toEqual(ended);
    expect((await ask(path)).body.data[0]).not.toHaveProperty('details');
  });

  test('returns its schema, its event and who completed it with its details', async () => {
    const server = await sharedServer();
    const { ask } = server;
    const schema = { type: 'object', properties: { approved: { type: 'boolean' } } };
    const { id, url } = await create(server, { schema });
    expect((await ask(`${path}/${id}?details=true`)).body.details).toEqual({ runs: [], schema });
    await fetch(url, { method: 'POST', body: '{"approved":true}' });
    expect((await ask(`${path}/${id}?details=true`)).body.details.completedBy).toEqual({ type: 'url' });

    const name = `paid.${id}`;
    const waiting = await create(server, { event: { name } });
    expect((await ask(`${path}/${waiting.id}?details=true`)).body.details).toEqual({ runs: [], event: name });
    const sent = await ask('/api/v1/events', {
      ...post,
      body: { id: `for-${id}`, event: { name, payload: {} } },
    });
    expect(sent.status).toBe(200);
    await expect
      .poll(async () => (await ask(`${path}/${waiting.id}?details=true`)).body.details.completedBy, {
        timeout: 20_000,
      })
      .toEqual({ type: 'event', id: `for-${id}` });
  });

  test('is not found from other environments or at a guessed URL', async () => {
    const server = await sharedServer();
    const { ask, keys } = server;
    const { id, url } = await create(server);
    expect((await ask(`${path}/${id}`, { key: keys.stg })).status).toBe(404);
    expect((await ask(`${path}/${id}/complete`, { ...post, key: keys.stg, body: {} })).status).toBe(404);
    const guesses = [`${url}x`, url.slice(0, -1), url.replace(/.$/, '~'), url.replace(id, 'waitpoint_none')];
    for (const guess of guesses) expect((await fetch(guess, { method: 'POST' })).status).toBe(404);
    expect((await ask(`${path}/${id}`)).body.status).toBe('WAITING');
    expect((await ask(path, { ...post, key: '' })).status).toBe(401);
  });

  test('rejects an invalid body with the expected format', async () => {
    const { ask } = await sharedServer();
    const refusal = async (body: object) => {
      const reply = await ask(path, { ...post, body });
      return [reply.status, reply.body.error];
    };
    expect(await refusal({ timeout: 'soon' })).toEqual([400, expect.stringContaining('timeout')]);
    expect(await refusal({ idempotencyKey: 'a', idempotencyKeyTTL: '5 parsecs' })).toEqual([
      400,
      expect.stringContaining('idempotencyKeyTTL'),
    ]);
    expect(await refusal({ tags: Array.from({ length: 11 }, String) })).toEqual([
      400,
      expect.stringContaining('10 tags'),
    ]);
    expect(await refusal({ schema: 'object' })).toEqual([400, expect.stringContaining('schema')]);
    expect(await refusal({ tags: ['x'.repeat(129)] })).toEqual([400, expect.stringContaining('128')]);
    expect((await refusal({ tags: ['x'.repeat(20_000)] }))[0]).toBe(413);
    expect((await ask(`${path}?filter[status]=DONE`)).status).toBe(400);
    expect((await ask(`${path}?page[after]=nonsense`)).status).toBe(400);
    expect((await ask(`${path}/waitpoint_none`)).status).toBe(404);
    const { id } = (await ask(path, post)).body;
    const nul = await ask(`${path}/${id}/complete`, { ...post, body: { data: 'a\0b' } });
    expect(nul.status).toBe(200);
    expect(JSON.parse((await ask(`${path}/${id}`)).body.output)).toBe('a\0b');
  });
});

test('the published SDK creates, lists by every filter, retrieves and completes tokens', async () => {
  const server = await sharedServer();
  configure({ baseURL: server.url, accessToken: server.keys.prod });
  const first = await wait.createToken({ timeout: '1h', tags: ['a', 'b'], idempotencyKey: 'once' });
  expect(first).toMatchObject({ isCached: false, publicAccessToken: expect.stringMatching(/^ey/) });
  expect(await wait.createToken({ idempotencyKey: 'once' })).toMatchObject({ id: first.id, isCached: true });
  const second = await wait.createToken({ timeout: new Date('2999-01-01'), tags: 'b' });
  const third = await wait.createToken();

  const ids = async (params: Parameters<typeof wait.listTokens>[0]) =>
    (await wait.listTokens(params)).data.map((token) => token.id);
  expect(await ids({})).toEqual([third.id, second.id, first.id]);
  expect(await ids({ tags: ['a', 'c'] })).toEqual([first.id]);
  expect(await ids({ idempotencyKey: 'once' })).toEqual([first.id]);
  expect(await ids({ period: '1h', status: 'WAITING' })).toHaveLength(3);
  expect(await ids({ from: new Date(Date.now() + 60_000) })).toEqual([]);
  const page = await wait.listTokens({ limit: 2 });
  expect((await page.getNextPage()).data.map((token) => token.id)).toEqual([first.id]);
  const iterated: string[] = [];
  for await (const token of wait.listTokens({ limit: 1 })) iterated.push(token.id);
  expect(iterated).toEqual([third.id, second.id, first.id]);

  expect(await wait.completeToken(first, { approved: true })).toEqual({ success: true });
  expect(await wait.completeToken(second.id, 'text')).toEqual({ success: true });
  expect(await ids({ status: ['COMPLETED', 'TIMED_OUT'] })).toEqual([second.id, first.id]);
  const done = await wait.retrieveToken(first);
  expect(done).toMatchObject({ status: 'COMPLETED', tags: ['a', 'b'], output: { approved: true } });
  expect(done.completedAt).toBeInstanceOf(Date);
  configure({ baseURL: server.url, accessToken: third.publicAccessToken });
  expect(await wait.completeToken(third, null as never)).toEqual({ success: true });
});
