import { describe, expect, test } from 'vitest';
import { sharedInstallation } from '../access/installation.ts';

const session = (externalId: string) => ({
  type: 'chat',
  taskIdentifier: 'chat',
  externalId,
  triggerConfig: { basePayload: {} },
});

type Ask = Awaited<ReturnType<typeof sharedInstallation>>['ask'];

/** The status of a request; a stream is closed immediately. */
async function statusOf(url: string, method: string, path: string, credential: string): Promise<number> {
  const response = await fetch(url + path, {
    method,
    headers: { ...(credential !== '' && { authorization: `Bearer ${credential}` }), 'timeout-seconds': '1' },
    ...(method !== 'GET' && method !== 'HEAD' && { body: '{}' }),
  });
  await response.body?.cancel();
  return response.status;
}

async function setUp() {
  const installed = await sharedInstallation();
  const { ask, keys, publicIdOf, sign, server } = installed;
  const create = async (body: unknown): Promise<Awaited<ReturnType<Ask>>['body']> =>
    (await ask('POST /api/v1/sessions', { key: keys.prod, body })).body;
  const mine = await create(session('mine:1'));
  const other = await create(session('other'));
  const sub = await publicIdOf('prod');
  const token = (scopes: readonly string[], more: object = {}) =>
    sign(keys.prod, { sub, scopes, jti: Math.random(), ...more });
  return { ...installed, mine, other, sub, token, status: statusOf.bind(undefined, server.url) };
}

const channel = (address: string, io: string, rest = '') =>
  `/realtime/v1/sessions/${encodeURIComponent(address)}/${io}${rest}`;

/** All operations that read or write a session, by the required scope; `never` for those that no public token permits. */
const requests = (
  address: string,
): readonly (readonly [method: string, path: string, scope: 'read' | 'write' | 'never'])[] => [
  ['GET', `/api/v1/sessions/${encodeURIComponent(address)}`, 'read'],
  ['GET', channel(address, 'out'), 'read'],
  ['HEAD', channel(address, 'out'), 'read'],
  ['GET', channel(address, 'out', '/records'), 'read'],
  ['GET', `/realtime/v1/sessions/${encodeURIComponent(address)}/channels/side/out`, 'read'],
  ['POST', channel(address, 'in', '/append'), 'write'],
  ['POST', `/realtime/v1/sessions/${encodeURIComponent(address)}/channels/side/in/append`, 'write'],
  ['GET', channel(address, 'in'), 'never'],
  ['HEAD', channel(address, 'in'), 'never'],
  ['GET', channel(address, 'in', '/records'), 'never'],
  ['GET', `/realtime/v1/sessions/${encodeURIComponent(address)}/channels/side/in`, 'never'],
  ['POST', channel(address, 'out', '/append'), 'never'],
  ['POST', channel(address, 'out', '/records'), 'never'],
  ['POST', `/realtime/v1/sessions/${encodeURIComponent(address)}/channels/side/out/append`, 'never'],
  ['PUT', channel(address, 'out'), 'never'],
  ['PATCH', `/api/v1/sessions/${encodeURIComponent(address)}`, 'never'],
  ['POST', `/api/v1/sessions/${encodeURIComponent(address)}/close`, 'never'],
];

describe('a public token', () => {
  test('permits the operations of its scopes, under both names of the session, but never reading .in or writing .out', async () => {
    const { mine, token, status } = await setUp();
    const wrong: unknown[] = [];
    for (const pinned of [mine.id as string, 'mine:1']) {
      const credentials = {
        read: token([`read:sessions:${pinned}`]),
        write: token([`write:sessions:${pinned}`]),
        both: token(['read:sessions:else', `read:sessions:${pinned}`, `write:sessions:${pinned}`]),
        all: token(['read:sessions', 'write:sessions', 'admin:sessions', 'read:all', 'write:all', 'admin']),
      };
      for (const address of [mine.id as string, 'mine:1']) {
        for (const [method, path, scope] of requests(address)) {
          for (const [name, credential] of Object.entries(credentials)) {
            const holds = name === 'both' || name === 'all' || name === scope;
            const expected = scope === 'never' ? 403 : holds ? 200 : 403;
            const got = await status(method, path, credential);
            if (got !== expected) wrong.push({ pinned, method, path, name, expected, got });
          }
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  test('reveals nothing about another session, whether it exists or not', async () => {
    const { mine, other, ask, keys, token, status } = await setUp();
    await ask('POST /api/v1/sessions/other/close', { key: keys.prod, body: {} });
    const credential = token([`read:sessions:${mine.id}`, `write:sessions:${mine.id}`]);
    for (const address of [other.id as string, 'other', 'nobody', 'session_00000000000000000000', 'mine'])
      for (const [method, path] of requests(address))
        expect(await status(method, path, credential), `${method} ${path}`).toBe(403);
  });

  test('is rejected for its direction before the session is read', async () => {
    const { ask, keys, token, status } = await setUp();
    await ask('POST /api/v1/sessions/mine%3A1/close', { key: keys.prod, body: {} });
    const credential = token(['read:sessions', 'write:sessions']);
    expect(await status('POST', channel('mine:1', 'out', '/append'), credential)).toBe(403);
    expect(await status('GET', channel('mine:1', 'in'), credential)).toBe(403);
    expect(await status('POST', channel('mine:1', 'in', '/append'), credential)).toBe(400);
    expect(await status('POST', channel('nobody', 'out', '/append'), credential)).toBe(403);
  });

  test('that is invalid gets 401 everywhere', async () => {
    const { keys, sign, sub, token, status } = await setUp();
    const scopes = ['read:sessions', 'write:sessions'];
    const now = Math.floor(Date.now() / 1_000);
    const bad = {
      absent: '',
      garbage: 'garbage',
      expired: token(scopes, { exp: now - 5 }),
      'wrong key': sign('svc_prod_sk_000000000000000000000000', { sub, scopes }),
      'alg none': sign(keys.prod, { sub, scopes }, { alg: 'none' }),
      'other audience': token(scopes, { aud: 'https://example.com' }),
      'other environment': sign(keys.stg, { sub, scopes }),
    };
    const wrong: unknown[] = [];
    for (const [name, credential] of Object.entries(bad))
      for (const [method, path] of requests('mine:1')) {
        const got = await status(method, path, credential);
        if (got !== 401) wrong.push({ name, method, path, got });
      }
    expect(wrong).toEqual([]);
  });

  test('creates a session with a scope for the type or the task, not with one for a session', async () => {
    const { ask, token } = await setUp();
    const create = (key: string) =>
      ask('POST /api/v1/sessions', { key, body: session(`by ${Math.random()}`) });
    expect((await create(token(['write:sessions']))).status).toBe(201);
    expect((await create(token(['write:tasks:chat']))).status).toBe(201);
    expect((await create(token(['write:sessions:x']))).status).toBe(403);
    expect((await create(token(['write:tasks:other']))).status).toBe(403);
    expect((await create(token(['read:sessions']))).status).toBe(403);
  });

  test('that expires breaks its stream without a proper end, and is rejected afterwards', async () => {
    const { server, token } = await setUp();
    const credential = token(['read:sessions:mine:1'], { exp: Math.floor(Date.now() / 1_000) + 2 });
    const url = server.url + channel('mine:1', 'out');
    const response = await fetch(url, { headers: { authorization: `Bearer ${credential}` } });
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow(/terminated/);
    expect((await fetch(url, { headers: { authorization: `Bearer ${credential}` } })).status).toBe(401);
  });
});

describe('a restricted key', () => {
  test('with the scope may also write .out and read .in', async () => {
    const { keyWith, mine, status } = await setUp();
    const [reads, writes] = [await keyWith(['read:sessions']), await keyWith([`write:sessions:${mine.id}`])];
    expect(await status('GET', channel('mine:1', 'in', '/records'), reads)).toBe(200);
    expect(await status('GET', channel('mine:1', 'in', '/records'), writes)).toBe(403);
    expect(await status('POST', channel('mine:1', 'out', '/append'), writes)).toBe(200);
    expect(await status('POST', channel('other', 'out', '/append'), writes)).toBe(403);
    expect(await status('POST', '/api/v1/sessions/mine%3A1/close', writes)).toBe(403);
    expect(await status('POST', '/api/v1/sessions/mine%3A1/close', await keyWith(['admin:sessions']))).toBe(
      200,
    );
  });
});
