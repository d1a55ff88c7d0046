import { gzipSync } from 'node:zlib';
import { operation, type OperationDeclaration, type Role } from '@millrace/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Authenticate } from '../auth/authenticate.ts';
import type { Principal } from '../auth/principal.ts';
import { notFound, unauthorized } from '../problem.ts';
import { InvalidOperation } from './check-operations.ts';
import { createSampleApp, sampleHandlers, sampleOperations } from './testing/sample-app.ts';

const environment = {
  id: 1,
  publicId: 'env_1',
  kind: 'dev',
  branch: null,
  projectId: 1,
  projectRef: 'proj_a',
} as const;
const secretKey = (...scopes: string[]): Principal => ({
  kind: 'secretKey',
  credentialId: 'key_1',
  environment,
  scopes,
});
const publicToken = (...scopes: string[]): Principal => ({
  kind: 'publicToken',
  credentialId: 'key_1',
  environment,
  scopes,
  tokenDigest: scopes.join(),
  signerId: 'key_1',
  expiresAt: new Date(8.64e15),
});
const oneTime = (...scopes: string[]): Principal =>
  ({ ...publicToken(...scopes), oneTimeDigest: 'once' }) as Principal;

// Callers by name. Authentication itself is tested separately, with the database.
const callers: Record<string, Principal> = {
  full: secretKey('admin'),
  pat: { kind: 'personalAccessToken', credentialId: 'pat_1', userId: 'user_1' },
  taskA: secretKey('trigger:tasks:a/b'),
  tokenRun: publicToken('read:runs:run_1'),
  tokenTag: publicToken('read:tags:org:42'),
  tokenAll: publicToken('read:runs', 'read:errors'),
  tokenPinned: publicToken('read:errors:error_1'),
  none: publicToken(),
  once: oneTime('trigger:tasks', 'read:errors', 'write:errors'),
};
const authenticate: Authenticate = ({ authorization = '' }) => {
  const [name = '', when] = authorization.split(' ');
  const principal = callers[name];
  if (!principal) throw unauthorized('Invalid API key');
  return when === 'later' ? Promise.resolve(principal) : principal;
};

let app: ReturnType<typeof createSampleApp>['app'];
let lines: string[];
beforeAll(() => {
  ({ app, lines } = createSampleApp(authenticate));
});

interface Call {
  as?: string;
  body?: string | Buffer;
  headers?: Record<string, string>;
}
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD' | 'OPTIONS';

async function call(method: Method, url: string, { as = 'full', body, headers = {} }: Call = {}) {
  const reply = await app.inject({
    method,
    url,
    headers: { ...(as !== '' && { authorization: as }), 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { payload: body }),
  });
  return {
    status: reply.statusCode,
    headers: reply.headers,
    body: (reply.body === '' ? undefined : JSON.parse(reply.body)) as Record<string, unknown> | undefined,
  };
}

describe('a request', () => {
  test('is validated and has its defaults, and the response is JSON that caches must not store', async () => {
    const reply = await call('POST', '/api/v1/tasks/a/echo', { body: '{"payload":{"b":[1]},"unknown":1}' });
    expect(reply).toMatchObject({
      status: 200,
      body: {
        params: { taskId: 'a' },
        query: { 'page[size]': 25 },
        body: { payload: { b: [1] } },
        environment: 'dev',
      },
    });
    expect(reply.body?.['body']).not.toHaveProperty('unknown');
    expect(reply.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
  });

  test('waits for the lookup of its caller', async () => {
    expect(await call('GET', '/api/v1/things', { as: 'full later' })).toMatchObject({ status: 200 });
    expect(await call('GET', '/api/v1/things', { as: 'pat later' })).toMatchObject({ status: 401 });
  });

  test('may set and read headers; undefined fields are omitted', async () => {
    const reply = await call('GET', '/api/v1/things', { headers: { 'x-sent': 'yes' } });
    expect(reply.headers['x-seen']).toBe('yes');
    expect(reply.body).toEqual({ data: [] });
  });

  test('has each segment of its path decoded exactly once', async () => {
    for (const [segment, taskId] of [
      ['a%2Fb', 'a/b'],
      ['a%252Fb', 'a%2Fb'],
      ['%25', '%'],
      ['caf%C3%A9', 'café'],
      ['a+b', 'a+b'],
      ['x'.repeat(128), 'x'.repeat(128)],
    ]) {
      expect(await call('POST', `/api/v1/tasks/${segment}/echo`, { body: '{}' })).toMatchObject({
        status: 200,
        body: { params: { taskId } },
      });
    }
    expect(await call('POST', '/api/v1/tasks/%zz/echo', { body: '{}' })).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('percent-encoding') as string },
    });
  });

  test('may repeat a query parameter, of which the last value applies', async () => {
    const reply = await call('POST', '/api/v1/tasks/a/echo?page%5Bsize%5D=10&page[size]=20', { body: '{}' });
    expect(reply.body).toMatchObject({ query: { 'page[size]': 20 } });
  });

  test('cannot modify prototypes, by body or by query', async () => {
    const reply = await call('POST', '/api/v1/tasks/a/echo?__proto__=x&__proto__[y]=1&constructor=z', {
      body: '{"__proto__":{"polluted":1},"payload":{"__proto__":{"polluted":1}},"constructor":{"prototype":{"polluted":1}}}',
    });
    expect(reply.status).toBe(200);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(Object.keys(reply.body?.['body'] as object)).toEqual(['payload']);
  });

  test('may omit an optional body, and have any content type', async () => {
    expect(await call('POST', '/api/v1/things/e/close')).toMatchObject({
      status: 201,
      body: { body: 'none' },
    });
    expect(
      await call('POST', '/api/v1/things/e/close', {
        body: '{"reason":"x"}',
        headers: { 'content-type': 'text/plain' },
      }),
    ).toMatchObject({
      status: 201,
      body: { body: { reason: 'x' } },
    });
  });
});

describe('invalid input', () => {
  const echo = '/api/v1/tasks/a/echo';
  test.each<[what: string, url: string, body: string | Buffer, status: number, error: RegExp]>([
    ['no body', echo, '', 400, /^Request body is empty$/],
    ['malformed JSON', echo, '{"a":', 400, /^Invalid JSON$/],
    ['a body that is not an object', echo, '7', 400, /^Validation error: .*expected object/],
    ['null', echo, 'null', 400, /^Validation error: .*expected object/],
    ['bytes that are not text', echo, Buffer.from([0xff, 0xfe]), 400, /not valid UTF-8/],
    ['a wrong type', echo, '{"name":1}', 400, /^Validation error: .*expected string.* at "name"$/],
    ['a body that is too large', echo, `{"payload":"${'x'.repeat(1_000)}"}`, 413, /^Request body too large$/],
    [
      'a body that is too large and an invalid query',
      `${echo}?page[size]=0`,
      'x'.repeat(2_000),
      413,
      /^Request body too large$/,
    ],
    ['a long parameter', `/api/v1/tasks/${'x'.repeat(129)}/echo`, 'nonsense', 400, /^Params Error$/],
    ['an invalid query before an invalid body', `${echo}?page[size]=0`, 'nonsense', 400, /^Query Error$/],
  ])('%s', async (_, url, body, status, error) => {
    expect(await call('POST', url, { body })).toMatchObject({
      status,
      body: { error: expect.stringMatching(error) as string },
    });
  });

  test.each(['application/json', 'application/x-ndjson'])('%s that is compressed', async (type) => {
    const headers = { 'content-type': type, 'content-encoding': 'gzip' };
    expect(await call('POST', echo, { body: gzipSync('{}'), headers })).toMatchObject({
      status: 415,
      body: { error: expect.stringMatching(/^Content-Encoding is not supported: send/) as string },
    });
    const plain = { 'content-type': 'application/json', 'content-encoding': 'identity' };
    expect((await call('POST', echo, { body: '{}', headers: plain })).status).toBe(200);
  });

  test('in the query is reported with details that name the parameter', async () => {
    expect((await call('GET', '/api/v1/things?filter%5Bstatus%5D=c')).body).toEqual({
      error: 'Query Error',
      details: [
        {
          code: 'invalid_enum_value',
          message: expect.any(String) as string,
          path: ['filter[status]'],
          options: ['a', 'b'],
        },
      ],
    });
  });

  test('is rejected before it is read if the caller is unknown', async () => {
    const reply = await call('POST', echo, { as: '', body: 'x'.repeat(2_000) });
    expect(reply).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer' } });
  });

  test('an unknown path is 404 and not retryable', async () => {
    expect(await call('POST', '/api/v1/nothing', { body: '{}' })).toMatchObject({
      status: 404,
      body: { error: 'Not found' },
      headers: { 'x-should-retry': 'false' },
    });
  });

  test('a wrong method is 405 with Allow, without authentication', async () => {
    expect(await call('GET', echo, { as: '' })).toMatchObject({
      status: 405,
      body: { error: 'Method not allowed' },
      headers: { allow: 'POST, OPTIONS' },
    });
    expect(await call('DELETE', '/api/v1/things')).toMatchObject({
      status: 405,
      headers: { allow: 'GET, HEAD, OPTIONS' },
    });
  });
});

describe('a caller', () => {
  test.each<[as: string, method: 'GET' | 'POST', url: string, status: number]>([
    ['nobody', 'GET', '/api/v1/things', 401],
    ['', 'GET', '/api/v1/things', 401],
    ['pat', 'GET', '/api/v1/things', 401],
    ['full', 'GET', '/api/v1/user', 401],
    ['tokenAll', 'GET', '/api/v1/user', 401],
    ['pat', 'GET', '/api/v1/user', 200],
    ['', 'GET', '/api/v1/open', 200],
    ['tokenAll', 'POST', '/api/v1/things/error_1/close', 401],
    ['full', 'GET', '/api/v1/unruled', 200],
    ['taskA', 'GET', '/api/v1/unruled', 403],
    ['tokenAll', 'GET', '/api/v1/things', 200],
    ['tokenPinned', 'GET', '/api/v1/things', 403],
    ['none', 'GET', '/api/v1/things', 403],
    ['taskA', 'POST', '/api/v1/tasks/a%2Fb/echo', 200],
    ['taskA', 'POST', '/api/v1/tasks/b/echo', 403],
    ['tokenRun', 'GET', '/api/v1/runs/run_1', 200],
    ['tokenRun', 'GET', '/api/v1/runs/run_2', 403],
    ['tokenTag', 'GET', '/api/v1/runs/run_2', 200],
    ['tokenAll', 'GET', '/api/v1/runs/run_2', 200],
    ['none', 'GET', '/api/v1/runs/run_2', 403],
  ])('%s: %s %s is %i', async (as, method, url, status) => {
    const reply = await call(method, url, { as, ...(method === 'POST' && { body: '{}' }) });
    expect(reply.status).toBe(status);
  });

  test('without the scope always gets the same response', async () => {
    expect((await call('GET', '/api/v1/things', { as: 'none' })).body).toEqual({
      error: 'Unauthorized',
      code: 'unauthorized',
      param: 'access_token',
      type: 'authorization',
    });
  });

  test('gets validation errors before missing scopes', async () => {
    expect((await call('POST', '/api/v1/tasks/b/echo', { as: 'taskA', body: '{' })).status).toBe(400);
  });

  test('receives nothing from a handler that does not authorize', async () => {
    expect(await call('GET', '/api/v1/forgetful/run_2', { as: 'tokenTag' })).toMatchObject({ status: 500 });
    expect(lines.at(-1)).toContain('forgetful answered without authorizing');
    expect((await call('GET', '/api/v1/forgetful/run_1', { as: 'tokenRun' })).status).toBe(200);
  });
});

describe('a failure', () => {
  test('that is a Problem keeps its status, text and fields', async () => {
    expect(await call('POST', '/api/v1/fail', { body: '{"status":422}' })).toMatchObject({
      status: 422,
      body: { error: 'as told: 422', code: 'told' },
    });
  });

  test('that is a conflict is not retryable', async () => {
    expect((await call('POST', '/api/v1/fail', { body: '{"status":409}' })).headers['x-should-retry']).toBe(
      'false',
    );
    expect((await call('POST', '/api/v1/fail', { body: '{"status":503}' })).headers).not.toHaveProperty(
      'x-should-retry',
    );
  });

  test('with status 503 includes when to retry', async () => {
    const retryAfter = async (status: number) =>
      (await call('POST', '/api/v1/fail', { body: JSON.stringify({ status }) })).headers['retry-after'];
    expect([await retryAfter(503), await retryAfter(409)]).toEqual(['2', undefined]);
  });

  test('that is internal is logged in full, while the response contains only a request id', async () => {
    const before = lines.length;
    const reply = await call('POST', '/api/v1/fail', { body: '{"status":0}' });
    expect(reply).toMatchObject({ status: 500, body: { error: 'Internal Server Error' } });
    expect(Object.keys(reply.body ?? {})).toEqual(['error']);
    const logged = JSON.parse(lines[before] ?? '{}') as Record<string, unknown>;
    expect(logged).toMatchObject({
      level: 'error',
      event: 'request.failed',
      requestId: reply.headers['x-request-id'],
      method: 'POST',
      route: '/api/v1/fail',
      err: {
        message: expect.stringContaining('hunter2') as string,
        stack: expect.stringContaining('sample-app.ts') as string,
      },
    });
    expect(lines[before]).toContain('deeper');
    expect(reply.headers).not.toHaveProperty('x-trigger-jwt');
    expect(await call('POST', '/api/v1/fail', { body: '{"status":1}' })).toMatchObject({ status: 500 });
    expect(await call('POST', '/api/v1/fail', { body: '{"status":2}' })).toMatchObject({ status: 500 });
  });
});

describe('browsers', () => {
  test('may call operations that accept public tokens, and read their errors', async () => {
    for (const as of ['tokenAll', 'none', '']) {
      expect((await call('GET', '/api/v1/things', { as })).headers).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-expose-headers': expect.stringContaining(
          'x-trigger-jwt, x-trigger-jwt-claims',
        ) as string,
      });
    }
    const tooLarge = await call('POST', '/api/v1/tasks/a/echo', { body: 'x'.repeat(2_000) });
    expect(tooLarge).toMatchObject({ status: 413, headers: { 'access-control-allow-origin': '*' } });
    expect((await call('POST', '/api/v1/things/e/close')).headers).not.toHaveProperty(
      'access-control-allow-origin',
    );
  });

  test('get the preflight response without a credential', async () => {
    const preflight = await call('OPTIONS', '/api/v1/tasks/a/echo', { as: '' });
    expect(preflight).toMatchObject({
      status: 204,
      headers: {
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'POST',
        'access-control-max-age': '300',
      },
    });
    const allowed = String(preflight.headers['access-control-allow-headers']).split(', ');
    expect(allowed).toEqual(
      expect.arrayContaining(['authorization', 'x-trigger-api-version', 'last-event-id', 'x-part-id']),
    );
    const closed = await call('OPTIONS', '/api/v1/things/e/close', { as: '' });
    expect(closed.status).toBe(204);
    expect(closed.headers).not.toHaveProperty('access-control-allow-origin');
  });
});

describe('a caller', () => {
  test('with a one-time token may read, and write only where the token is consumed', async () => {
    expect(await call('GET', '/api/v1/things', { as: 'once' })).toMatchObject({ status: 200 });
    expect(await call('POST', '/api/v1/tasks/a/echo', { as: 'once', body: '{}' })).toMatchObject({
      status: 403,
    });
    const creating = operation({
      ...sampleOperations.echo,
      access: { ...sampleOperations.echo.access, oneTime: true },
    });
    const { app: sample } = createSampleApp(authenticate, {
      operations: { echo: creating } as never,
      handlers: { echo: sampleHandlers.echo } as never,
    });
    const reply = await sample.inject({
      method: 'POST',
      url: '/api/v1/tasks/a/echo',
      headers: { authorization: 'once' },
      payload: '{}',
    });
    expect(reply.statusCode).toBe(200);
  });

  test('learns nothing about objects outside its scopes', async () => {
    const finding = createSampleApp(authenticate, {
      handlers: {
        ...sampleHandlers,
        readRun: async () => {
          throw notFound('Not found', true);
        },
      },
    }).app;
    const get = (authorization: string, id: string) =>
      finding.inject({ method: 'GET', url: `/api/v1/runs/${id}`, headers: { authorization } });
    expect((await get('tokenTag', 'run_9')).statusCode).toBe(403);
    expect((await get('tokenRun', 'run_9')).statusCode).toBe(403);
    expect((await get('tokenRun', 'run_1')).statusCode).toBe(404);
    expect((await get('full', 'run_9')).statusCode).toBe(404);
  });

  test('that is a user requires a role in the organization of the path', async () => {
    const inProject = operation({
      ...sampleOperations.forUsers,
      id: 'inProject',
      path: '/api/v1/projects/:projectRef',
      access: { personalAccessToken: true, role: 'member' },
      params: z.object({ projectRef: z.string() }),
    });
    const roleIn: Record<string, Role> = { proj_view: 'viewer', proj_own: 'owner' };
    const { app: sample } = createSampleApp(authenticate, {
      operations: { inProject } as never,
      handlers: { inProject: async ({ role }: { role: Role }) => ({ role }) } as never,
      findRole: async (user, { projectRef = '' }) => (user === 'user_1' ? roleIn[projectRef] : undefined),
    });
    const get = async (ref: string) => {
      const headers = { authorization: 'pat' };
      const reply = await sample.inject({ method: 'GET', url: `/api/v1/projects/${ref}`, headers });
      return [reply.statusCode, reply.json()] as const;
    };
    expect(await get('proj_own')).toEqual([200, { role: 'owner' }]);
    expect((await get('proj_view'))[0]).toBe(403);
    expect(await get('proj_none')).toEqual([404, { error: 'Project not found' }]);
  });
});

describe('a rate limit', () => {
  test('of an operation is separate for each caller; other and unlimited operations have none', async () => {
    const free = { ...sampleOperations.fail, unlimited: true };
    const limited = createSampleApp(authenticate, {
      operations: { ...sampleOperations, fail: free },
      rateLimits: {
        operations: { listThings: { burst: 1, perSecond: 1 }, fail: { burst: 1, perSecond: 1 } },
      },
    }).app;
    const get = async (url: string, authorization: string) =>
      (await limited.inject({ method: 'GET', url, headers: { authorization } })).statusCode;
    expect([await get('/api/v1/things', 'full'), await get('/api/v1/things', 'full')]).toEqual([200, 429]);
    expect(await get('/api/v1/things', 'tokenAll')).toBe(200);
    expect([await get('/api/v1/unruled', 'full'), await get('/api/v1/unruled', 'full')]).toEqual([200, 200]);
    const fail = async () =>
      (
        await limited.inject({
          method: 'POST',
          url: '/api/v1/fail',
          headers: { authorization: 'full' },
          payload: '{"status":418}',
        })
      ).statusCode;
    expect([await fail(), await fail()]).toEqual([418, 418]);
  });

  test('counts every call, including rejected calls and those with internal errors', async () => {
    const limited = createSampleApp(authenticate, {
      rateLimits: { personalAccessToken: { burst: 2, perSecond: 0.001 } },
    }).app;
    const refused = async () => {
      const headers = { authorization: 'pat' };
      const { statusCode, headers: responseHeaders } = await limited.inject({
        method: 'GET',
        url: '/api/v1/things',
        headers,
      });
      return [statusCode, responseHeaders['x-ratelimit-remaining']];
    };
    expect([await refused(), await refused(), await refused()]).toEqual([
      [401, '1'],
      [401, '0'],
      [429, '0'],
    ]);
    const faulty = createSampleApp(authenticate, {
      rateLimits: { secretKey: { burst: 2, perSecond: 0.001 } },
    }).app;
    const fault = await faulty.inject({
      method: 'POST',
      url: '/api/v1/fail',
      headers: { authorization: 'full' },
      payload: '{"status":0}',
    });
    expect([
      fault.statusCode,
      fault.headers['x-ratelimit-limit'],
      fault.headers['x-ratelimit-remaining'],
    ]).toEqual([500, '2', '1']);
    expect((await limited.inject({ method: 'GET', url: '/metrics' })).payload).toContain(
      'millrace_http_request_duration_seconds_count{method="GET",route="/api/v1/things",status="4xx"} 3',
    );
  });

  test('reports its reset in milliseconds, and is shared by all keys of an environment', async () => {
    const limited = createSampleApp(authenticate, {
      rateLimits: { secretKey: { burst: 2, perSecond: 1 } },
    }).app;
    const get = (authorization: string) =>
      limited.inject({ method: 'GET', url: '/api/v1/things', headers: { authorization } });
    const first = await get('full');
    expect(first.headers).toMatchObject({ 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '1' });
    await get('full');
    const refused = await get('taskA');
    expect(refused.statusCode).toBe(429);
    expect(refused.headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    const reset = Number(refused.headers['x-ratelimit-reset']);
    expect(reset).toBeGreaterThan(Date.now());
    expect(reset).toBeLessThan(Date.now() + 2_000);
    expect(refused.headers).toMatchObject({
      'retry-after': '1',
      'content-type': 'application/problem+json; charset=utf-8',
    });
    expect(refused.json()).toMatchObject({
      title: 'Rate Limit Exceeded',
      status: 429,
      reset,
      limit: 2,
      remaining: 0,
    });
    expect(
      (await limited.inject({ method: 'GET', url: '/api/v1/user', headers: { authorization: 'pat' } }))
        .statusCode,
    ).toBe(200);
  });
});

const thing = sampleOperations.listThings;
const handlers = { thing: async () => ({}) };
const refusal =
  (operations: Record<string, OperationDeclaration>, implementations: object = sampleHandlers) =>
  () =>
    createSampleApp(authenticate, {
      operations: operations as never,
      handlers: implementations as never,
    });
const at = (method: 'GET' | 'PUT', name: string) =>
  operation({
    ...thing,
    id: name,
    method,
    path: `/api/v1/x/:${name}`,
    params: z.object({ [name]: z.string() }),
  });

describe('creating an app fails', () => {
  test('if an operation has no handler, or a handler no operation', () => {
    expect(refusal({ thing }, {})).toThrow(new InvalidOperation('thing has no handler.'));
    expect(refusal({}, handlers)).toThrow('Unknown operation thing.');
  });

  test.each<[Partial<OperationDeclaration>, string]>([
    [{ access: {} }, 'no access rule'],
    [{ access: { open: true, secretKey: true } }, 'choose one'],
    [{ access: { secretKey: true, action: 'read' } }, 'half a scope rule'],
    [{ access: { publicToken: true } }, 'no scope allows it'],
    [{ access: { secretKey: true, anyScope: true, action: 'read', on: 'runs' } }, 'accepts any'],
    [{ access: { secretKey: true, objects: true } }, 'objects without an action'],
    [{ access: { secretKey: true, role: 'admin' } }, 'remove it'],
    [
      {
        access: { personalAccessToken: true },
        path: '/api/v1/projects/:projectRef',
        params: z.object({ projectRef: z.string() }),
      },
      'set the least role',
    ],
    [{ path: '/api/v1/things/:id' }, 'does not declare them'],
  ])('from %j', (change, why) => {
    expect(refusal({ thing: { ...thing, ...change } }, handlers)).toThrow(why);
  });

  test('but not if two methods on one path name its parameter differently', async () => {
    const { app: sample } = createSampleApp(authenticate, {
      operations: { a: at('GET', 'a'), b: at('PUT', 'b') } as never,
      handlers: { a: handlers.thing, b: handlers.thing } as never,
    });
    const reply = await sample.inject({ method: 'PATCH', url: '/api/v1/x/1' });
    expect([reply.statusCode, reply.headers['allow']]).toEqual([405, 'GET, HEAD, PUT, OPTIONS']);
  });
});

test('a parameter may equal a fixed segment of another path', async () => {
  const { app: sample } = createSampleApp(authenticate, {
    operations: {
      single: { ...thing, method: 'DELETE', path: '/api/v1/x/:id', params: z.object({ id: z.string() }) },
      all: { ...thing, path: '/api/v1/x/import' },
    } as never,
    handlers: { single: async ({ params }: { params: unknown }) => params, all: handlers.thing } as never,
  });
  const headers = { authorization: 'full' };
  const reply = await sample.inject({ method: 'DELETE', url: '/api/v1/x/import', headers });
  expect(reply.json()).toEqual({ id: 'import' });
  const other = await sample.inject({ method: 'PATCH', url: '/api/v1/x/import' });
  expect([other.statusCode, other.headers['allow']]).toEqual([405, 'GET, HEAD, DELETE, OPTIONS']);
});
