import { afterEach, describe, expect, test, vi } from 'vitest';
import { configure, MillraceClient, runs, tasks } from '../index.ts';
import { startServer, type HttpServer, type Received } from '../testing/http-server.ts';
import { auth } from './index.ts';
import { scopeTexts } from './scopes.ts';

let server: HttpServer;
afterEach(async () => {
  configure({});
  await server.close();
});

/** Encodes the credential and branch of the request in the run id. */
const open = async () => {
  server = await startServer((request: Received) =>
    request.path.startsWith('/api/v1/auth')
      ? { body: { token: 'a token' } }
      : { body: { id: seenIn(request), isCached: false } },
  );
  configure({ baseURL: server.url, secretKey: 'svc_dev_outer', previewBranch: 'outer' });
};
const seenIn = ({ headers }: Received) =>
  `${String(headers.authorization).replace('Bearer ', '')} ${String(headers['x-service-branch'])}`;
const asker = async () => (await runs.cancel('run_1')).id;
const pause = () => new Promise((resolve) => setTimeout(resolve, 5));

describe('withAuth', () => {
  test('applies inside its callback, also after awaits, and nowhere else', async () => {
    await open();
    const inside = (name: string) =>
      auth.withAuth({ accessToken: name, previewBranch: name }, async () => {
        const before = await asker();
        await pause();
        return [before, await asker()];
      });
    const [first, second, outside] = await Promise.all([inside('one'), inside('other'), asker(), pause()]);
    expect(first).toEqual(['one one', 'one one']);
    expect(second).toEqual(['other other', 'other other']);
    expect(outside).toBe('svc_dev_outer outer');
    expect(await asker()).toBe('svc_dev_outer outer');
  });

  test('keeps unspecified settings, and can be nested', async () => {
    await open();
    const seen = await auth.withAuth({ accessToken: 'one' }, () =>
      auth.withAuth({ previewBranch: 'inner' }, async () => [
        await asker(),
        await auth.withAuth({ secretKey: 'two' }, asker),
      ]),
    );
    expect(seen).toEqual(['one inner', 'two inner']);
  });

  test('ends when its callback throws, and rethrows the error', async () => {
    await open();
    const failing = auth.withAuth({ accessToken: 'one' }, () => {
      throw new RangeError('mine');
    });
    await expect(failing).rejects.toThrow(new RangeError('mine'));
    expect(await asker()).toBe('svc_dev_outer outer');
  });

  test('allows one call at a time without AsyncLocalStorage, while clients remain separate', async () => {
    vi.resetModules();
    vi.stubGlobal('process', { env: {} });
    const sdk = await import('../index.ts').finally(() => vi.unstubAllGlobals());
    await open();
    sdk.configure({ baseURL: server.url, secretKey: 'outer' });
    const ask = async () => (await sdk.runs.cancel('run_1')).id;
    const first = sdk.auth.withAuth({ accessToken: 'one' }, async () => {
      await pause();
      return ask();
    });
    await expect(sdk.auth.withAuth({ accessToken: 'two' }, ask)).rejects.toThrow(/MillraceClient/);
    const apart = new sdk.MillraceClient({ baseURL: server.url, secretKey: 'apart' });
    expect((await apart.runs.cancel('run_1')).id).toBe('apart undefined');
    expect(await first).toBe('one undefined');
    expect(await ask()).toBe('outer undefined');
  });
});

describe('MillraceClient', () => {
  test('separates projects and branches in one process', async () => {
    await open();
    const clients = ['a', 'b', 'c'].map(
      (name) => new MillraceClient({ baseURL: server.url, secretKey: name, previewBranch: `${name}/x` }),
    );
    const responses = await Promise.all([
      ...clients.map(async (client) => (await client.tasks.trigger('t', 1)).id),
      tasks.trigger('t', 1).then(({ id }) => id),
      ...clients.map(async (client) => (await client.runs.cancel('run_1')).id),
    ]);
    const own = ['a a/x', 'b b/x', 'c c/x'];
    expect(responses).toEqual([...own, 'svc_dev_outer outer', ...own]);
  });

  test('has the functions of namespaces inside, and of queues, events, tokens and sessions', async () => {
    await open();
    const client = new MillraceClient({ baseURL: server.url, secretKey: 'a', previewBranch: 'x' });
    await client.runs.bulk.cancel({ runs: ['run_1'] });
    await client.errors.rules.create({ projectRef: 'proj_1', type: 'T', groupKey: 'g' });
    await client.queues.pause({ type: 'custom', name: 'mail' }).catch(() => {});
    await client.events.send({ name: 'order.paid' });
    await client.wait.completeToken('waitpoint_1');
    await client.sessions.open('chat-1').in.send({ text: 'Hello' });
    expect(server.received.map((received) => `${seenIn(received)} ${received.path}`)).toEqual([
      'a x /api/v1/bulk-actions',
      'a x /api/v1/projects/proj_1/error-rules',
      'a x /api/v1/queues/mail/pause',
      'a x /api/v1/events',
      'a x /api/v1/waitpoints/tokens/waitpoint_1/complete',
      'a x /realtime/v1/sessions/chat-1/in/append',
    ]);
  });

  test('is not affected by withAuth', async () => {
    await open();
    const client = new MillraceClient({ baseURL: server.url, secretKey: 'a', previewBranch: 'x' });
    const seen = await auth.withAuth({ accessToken: 'one' }, () => client.runs.cancel('run_1'));
    expect(seen.id).toBe('a x');
  });
});

describe('public tokens', () => {
  test('are requested with scopes as strings and the time in seconds', async () => {
    await open();
    const at = new Date('2030-01-01T00:00:00.500Z');
    expect(
      await auth.createPublicToken({
        scopes: { read: { runs: ['run_1', 'run_2'], tags: 'a:b', queues: true }, write: { sessions: 's' } },
        expirationTime: at,
        realtime: { skipColumns: ['payload'] },
      }),
    ).toBe('a token');
    await auth.createTriggerPublicToken('resize');
    await auth.createTriggerPublicToken(['a', 'b'], { multipleUse: true, expirationTime: '1h' });
    await auth.createBatchTriggerPublicToken('resize');
    expect(server.received.map(({ body }) => body)).toEqual([
      {
        scopes: ['read:runs:run_1', 'read:runs:run_2', 'read:tags:a:b', 'read:queues', 'write:sessions:s'],
        expirationTime: 1_893_456_000,
        realtime: { skipColumns: ['payload'] },
      },
      { scopes: ['trigger:tasks:resize'], oneTimeUse: true },
      { scopes: ['trigger:tasks:a', 'trigger:tasks:b'], expirationTime: '1h' },
      { scopes: ['batchTrigger:tasks:resize'], oneTimeUse: true },
    ]);
  });

  test('send scopes unchanged, and omit undefined ones', async () => {
    await open();
    expect(scopeTexts(['read:runs:run_1'])).toEqual(['read:runs:run_1']);
    expect(
      scopeTexts({ read: { runs: undefined as never, tasks: true }, write: undefined as never }),
    ).toEqual(['read:tasks']);
  });
});
