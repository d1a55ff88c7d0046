import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, describe, expect, test } from 'vitest';
import { startServer, type Answer, type HttpServer, type Received } from '../testing/http-server.ts';
import { runScopes, type RunScope } from '../run-scope.ts';
import { ApiClient } from './api-client.ts';
import {
  ApiConnectionError,
  ApiError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  UnexpectedReplyError,
} from './api-error.ts';
import { MillraceClient } from './millrace-client.ts';
import type { ClientSettings } from './settings.ts';

let server: HttpServer;
afterEach(() => server.close());

const fast = { minTimeoutInMs: 1, maxTimeoutInMs: 2 };
const clientFor = async (
  answer: (request: Received) => Answer,
  settings: ClientSettings = {},
): Promise<ApiClient> => {
  server = await startServer(answer);
  return new ApiClient({ baseURL: server.url, secretKey: 'svc_dev_key', retry: fast, ...settings });
};

const isShared = (request: Received) => request.path === '/api/v1/tasks/trigger-many';
const itemsOf = (request: Received) => (request.body as { items: { task: string; payload: number }[] }).items;
const triggered = (n: number | string) => ({ id: `run_${n}`, isCached: false });
/** Responds to every trigger, single or shared, with a run named after its payload. */
const obliging = (request: Received): Answer =>
  isShared(request)
    ? { body: { results: itemsOf(request).map(({ payload }) => triggered(payload)) } }
    : { body: triggered((request.body as { payload: number }).payload) };
const members = (n: number) => `"payload":${n}`;
const paths = () => server.received.map(({ path }) => path);

const retrieve = (client: ApiClient) => client.call('retrieveRun', { params: { runId: 'run_1' } });

describe('call', () => {
  test('names the caller, the version and the branch', async () => {
    const client = await clientFor(() => ({ body: {} }), { previewBranch: 'feat/x' });
    await retrieve(client);
    expect(server.received[0]).toMatchObject({ method: 'GET', path: '/api/v3/runs/run_1', body: undefined });
    expect(server.received[0]!.headers).toMatchObject({
      authorization: 'Bearer svc_dev_key',
      'x-trigger-api-version': '2025-07-16',
      'x-service-branch': 'feat/x',
    });
  });

  test('retries with the same idempotency key until it succeeds', async () => {
    const client = await clientFor(() =>
      server.received.length < 3 ? { status: 503 } : { body: { id: 'run_1' } },
    );
    expect(await client.call('cancelRun', { params: { runId: 'run_1' } })).toEqual({ id: 'run_1' });
    const keys = server.received.map(({ headers }) => headers['x-trigger-request-idempotency-key']);
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('gives up after five attempts with the error of the last', async () => {
    const client = await clientFor(() => ({ status: 500, body: { error: `no ${server.received.length}` } }));
    await expect(retrieve(client)).rejects.toMatchObject({
      name: 'InternalServerError',
      message: '500 no 5',
    });
  });

  test('retries a call past five attempts while only a proxy responds, unless it is not idempotent', async () => {
    const client = await clientFor(() =>
      server.received.length < 12
        ? { status: 503, headers: { 'content-type': 'text/html' }, body: '<html>no server</html>' }
        : { body: { id: 'run_1' } },
    );
    expect(await client.call('cancelRun', { params: { runId: 'run_1' } })).toEqual({ id: 'run_1' });
    server.received.length = 0;
    const creating = client.call('createBulkAction', { body: { action: 'cancel', runIds: ['run_1'] } });
    await expect(creating).rejects.toMatchObject({
      name: 'InternalServerError',
      status: 503,
      code: undefined,
      message:
        '503 from a proxy or another program, not from a Millrace server: "no server"; see: millrace help not-a-millrace-server',
    });
    expect(server.received).toHaveLength(5);
  });

  test('stops repeating a poll when its signal is aborted', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const { runs } = new MillraceClient({
      baseURL: (await clientFor(() => ({ status: 503 }))).settings.baseURL,
      secretKey: 'svc_dev_key',
      retry: { minTimeoutInMs: 60_000, maxTimeoutInMs: 60_000 },
    });
    const polling = runs.poll('run_1', { signal: controller.signal });
    await expect.poll(() => server.received).toHaveLength(1);
    controller.abort(reason);
    await expect(polling).rejects.toBe(reason);
  });

  test('stops retrying a call when the run is stopping', async () => {
    const controller = new AbortController();
    const client = await clientFor(() => {
      controller.abort();
      return { status: 503 };
    });
    const scope = { run: 'run_1', attempt: 1, onLog() {}, signal: controller.signal };
    const call = runScopes(() => new AsyncLocalStorage<RunScope>()).run(scope, () => retrieve(client));
    await expect(call).rejects.toMatchObject({ status: 503 });
    expect(server.received).toHaveLength(1);
  });

  test.each([
    [400, BadRequestError],
    [401, AuthenticationError],
    [404, NotFoundError],
    [413, ApiError],
  ])('throws the class of status %i with status, message and body', async (status, Class) => {
    const body = {
      error: 'Query Error',
      details: [{ code: 'custom', message: 'm', path: ['filter[status]'] }],
    };
    const client = await clientFor(() => ({ status, body }));
    const error = await retrieve(client).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Class);
    const message = `${status} Query Error: m at "filter[status]"`;
    expect(error).toMatchObject({ status, body, message, details: body.details });
    expect(server.received).toHaveLength(1);
  });

  test.each([
    ['plain text', 'upstream gone', '418 upstream gone'],
    ['nothing', undefined, '418 status code (no body)'],
    ['an error object', { error: { message: 'deep' } }, '418 deep'],
  ])('builds a message from %s', async (_, body, message) => {
    const client = await clientFor(() => ({ status: 418, body }));
    await expect(retrieve(client)).rejects.toMatchObject({ name: 'ApiError', message });
  });

  test('contains the documentation section of a failure if the reply names one', async () => {
    const failure = async (help: string | undefined, error = 'Run not found') => {
      const client = await clientFor(() => ({
        status: 404,
        ...(help !== undefined && { headers: { 'x-millrace-help': help } }),
        body: { error },
      }));
      const { message, help: shownHelp } = (await retrieve(client).catch(
        (thrown: unknown) => thrown,
      )) as ApiError;
      return [message, shownHelp];
    };
    const help = 'docs/troubleshooting.md#not-found';
    expect(await failure(help)).toEqual(['404 Run not found; see: millrace help not-found', help]);
    expect(await failure(help, 'Try again.')).toEqual(['404 Try again. See: millrace help not-found', help]);
    // Multi-line messages stay unchanged, as do those that already name a page.
    expect(await failure(help, 'one\ntwo')).toEqual(['404 one\ntwo', help]);
    expect(await failure(help, 'See docs/limits.md.')).toEqual(['404 See docs/limits.md.', help]);
    expect(await failure(undefined)).toEqual(['404 Run not found', undefined]);
    for (const odd of ['https://evil.example', 'docs/a.md#b and more', `docs/${'a'.repeat(101)}#b`])
      expect(await failure(odd)).toEqual(['404 Run not found', undefined]);
  });

  test('reports the target of a redirect, and does not send the key to it', async () => {
    const client = await clientFor(() => ({ status: 308, headers: { location: 'https://x.test/' } }));
    await expect(retrieve(client)).rejects.toThrow(/308 .*https:\/\/x\.test\//);
  });

  test('reports the address of an unreachable server', async () => {
    const client = await clientFor(() => ({}), { retry: { ...fast, maxAttempts: 2 } });
    await server.close();
    const error = await retrieve(client).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiConnectionError);
    expect(error).toMatchObject({
      message: expect.stringMatching(
        /^Cannot reach http:\/\/127\.0\.0\.1:\d+: .*ECONNREFUSED .*; see: millrace help the-server-cannot-be-reached$/,
      ) as string,
      help: 'docs/troubleshooting.md#the-server-cannot-be-reached',
    });
    expect(JSON.stringify(error) + (error as Error).stack).not.toContain('svc_dev_key');
  });

  test('does not accept a web page as a reply', async () => {
    const client = await clientFor(() => ({ body: '<html>' }));
    const error = await retrieve(client).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UnexpectedReplyError);
    expect((error as Error).message).toMatch(
      /^200 from a proxy or another program, not from a Millrace server/,
    );
    expect(error).toMatchObject({ help: 'docs/troubleshooting.md#not-a-millrace-server' });
  });

  test('throws errors whose stack leads to the caller', async () => {
    const client = await clientFor(() => ({ status: 404, body: { error: 'Not found' } }));
    async function theCaller() {
      await client.trigger('x', members(1));
    }
    const error = await theCaller().catch((thrown: unknown) => thrown as Error);
    expect((error as Error).stack).toContain('theCaller');
  });
});

describe('trigger', () => {
  test('sends a single call to the plain route and passes on the token of its reply', async () => {
    const client = await clientFor(() => ({ headers: { 'x-trigger-jwt': 'jwt' }, body: triggered(1) }));
    expect(await client.trigger('a/b', members(1))).toEqual({ ...triggered(1), publicAccessToken: 'jwt' });
    expect(server.received).toMatchObject([{ path: '/api/v1/tasks/a%2Fb/trigger', body: { payload: 1 } }]);
  });

  test('combines calls of one tick into one request, each with its own reply', async () => {
    const client = await clientFor(obliging);
    const replies = await Promise.all([1, 2, 3].map((n) => client.trigger(`task-${n}`, members(n))));
    expect(replies.map(({ id }) => id)).toEqual(['run_1', 'run_2', 'run_3']);
    expect(server.received).toHaveLength(1);
    expect(itemsOf(server.received[0]!)).toEqual([1, 2, 3].map((n) => ({ task: `task-${n}`, payload: n })));
  });

  test('keeps a call without payload and options well-formed in a shared request', async () => {
    const client = await clientFor(obliging);
    await Promise.all([client.trigger('a', ''), client.trigger('b', '')]);
    expect(itemsOf(server.received[0]!)).toEqual([{ task: 'a' }, { task: 'b' }]);
  });

  test('sends at most 500 calls in a request', async () => {
    const client = await clientFor(obliging);
    const replies = await Promise.all(
      Array.from({ length: 1_001 }, (_, n) => client.trigger('t', members(n))),
    );
    expect(replies.map(({ id }) => id)).toEqual(replies.map((_, n) => `run_${n}`));
    const sizes = server.received.map((request) => (isShared(request) ? itemsOf(request).length : 1));
    expect(sizes.toSorted((a, b) => b - a)).toEqual([500, 500, 1]);
  });

  test('sends at most 3 MB in a request, and a large call alone', async () => {
    const client = await clientFor((request) =>
      isShared(request)
        ? { body: { results: itemsOf(request).map((_, n) => triggered(n)) } }
        : { body: triggered('alone') },
    );
    const text = '"payload":' + JSON.stringify('€'.repeat(400_000));
    const replies = await Promise.all(Array.from({ length: 5 }, () => client.trigger('t', text)));
    expect(replies).toHaveLength(5);
    for (const { headers } of server.received)
      expect(Number(headers['content-length'])).toBeLessThan(3_145_728);
    expect(server.received).toHaveLength(3);
  });

  test('reports separate errors for calls that share a request', async () => {
    const client = await clientFor(() => ({
      body: { results: [triggered(0), { status: 422, error: 'too many tags' }, triggered(2)] },
    }));
    const settled = await Promise.allSettled([0, 1, 2].map((n) => client.trigger('t', members(n))));
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(settled[1]).toMatchObject({
      reason: {
        name: 'UnprocessableEntityError',
        status: 422,
        message: '422 too many tags; see: millrace help invalid-value',
      },
    });
    expect(server.received).toHaveLength(1);
  });

  test('retries a call alone if only that call failed temporarily', async () => {
    const client = await clientFor((request) =>
      isShared(request)
        ? { body: { results: [triggered(0), { status: 503, error: 'busy' }] } }
        : obliging(request),
    );
    const replies = await Promise.all([0, 1].map((n) => client.trigger('t', members(n))));
    expect(replies.map(({ id }) => id)).toEqual(['run_0', 'run_1']);
    expect(paths()).toEqual(['/api/v1/tasks/trigger-many', '/api/v1/tasks/t/trigger']);
  });

  test('does not fail other calls because of an invalid one', async () => {
    const client = await clientFor((request) => {
      if (isShared(request)) return { status: 400, body: { error: 'Validation error' } };
      const { payload } = request.body as { payload: number };
      return payload === 1
        ? { status: 400, body: { error: 'a tag is too long' } }
        : { body: triggered(payload) };
    });
    const settled = await Promise.allSettled([0, 1, 2].map((n) => client.trigger('t', members(n))));
    expect(settled[0]).toMatchObject({ value: { id: 'run_0' } });
    expect(settled[1]).toMatchObject({ reason: { message: '400 a tag is too long' } });
    expect(settled[2]).toMatchObject({ value: { id: 'run_2' } });
  });

  test('fails all calls immediately when the key is rejected', async () => {
    const client = await clientFor(() => ({ status: 401, body: { error: 'Invalid API key' } }));
    const settled = await Promise.allSettled([0, 1].map((n) => client.trigger('t', members(n))));
    for (const each of settled) expect(each).toMatchObject({ reason: { name: 'AuthenticationError' } });
    expect(server.received).toHaveLength(1);
  });

  test('retries a shared request as a whole, under the same idempotency key', async () => {
    const client = await clientFor((request) =>
      server.received.length === 1 ? { status: 500 } : obliging(request),
    );
    await Promise.all([0, 1].map((n) => client.trigger('t', members(n))));
    const [first, second] = server.received;
    expect(second!.body).toEqual(first!.body);
    const header = 'x-trigger-request-idempotency-key';
    expect(second!.headers[header]).toBe(first!.headers[header]);
  });

  test('never shares a request between two clients', async () => {
    const client = await clientFor(obliging);
    const other = new ApiClient({ baseURL: server.url, secretKey: 'svc_prod_key' });
    await Promise.all([
      client.trigger('t', members(1)),
      other.trigger('t', members(2)),
      client.trigger('t', members(3)),
    ]);
    const seen = server.received.map(({ headers, path }) => `${headers.authorization} ${path}`);
    expect(seen.toSorted()).toEqual([
      'Bearer svc_dev_key /api/v1/tasks/trigger-many',
      'Bearer svc_prod_key /api/v1/tasks/t/trigger',
    ]);
  });

  test('rejects an empty task id before sending anything', async () => {
    const client = await clientFor(obliging);
    await expect(client.trigger('', members(1))).rejects.toThrow(/taskId must be a non-empty string/);
    expect(server.received).toHaveLength(0);
  });
});
