import { createHmac } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { attemptMarker } from '@millrace/contract/runner';
import { installation, type Installation } from '../access/installation.ts';
import { startProject } from '../support/project.ts';

/** Tasks that write their API credential to a file, and continue when another file exists. */
const tasks = `
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { task, wait } from '@millrace/sdk';
async function give(file: string) {
  const scopes = (globalThis as any)[Symbol.for('@millrace/sdk/run-scopes')];
  writeFileSync(file + '.new', await scopes.getStore().credential());
  renameSync(file + '.new', file);
}
export const holds = task({ id: 'holds', run: async ({ dir }: { dir: string }) => {
  await give(dir + '/credential');
  while (!existsSync(dir + '/go')) await sleep(20);
} });
export const suspends = task({ id: 'suspends', run: async ({ dir, token }: { dir: string; token: string }) => {
  await give(dir + '/credential');
  await wait.forToken(token);
} });
export const again = task({ id: 'again', retry: { maxAttempts: 2, minTimeoutInMs: 1, maxTimeoutInMs: 1 }, run: async ({ dir }: { dir: string }, { ctx }) => {
  await give(dir + '/credential' + ctx.attempt.number);
  if (ctx.attempt.number === 1) throw new Error('once more');
  while (!existsSync(dir + '/go')) await sleep(20);
} });
export const repeats = task({ id: 'repeats', run: async ({ dir }: { dir: string }) => {
  while (!existsSync(dir + '/go')) {
    await give(dir + '/credential');
    await sleep(50);
  }
} });
export const says = task({ id: 'says', run: async () => (globalThis as any)[Symbol.for('@millrace/sdk/run-scopes')].getStore().credential() });
`;

interface Set extends Installation {
  readonly dir: string;
  start(task: string, payload?: object): Promise<string>;
  /** The content that a task wrote. */
  credential(file?: string): Promise<string>;
  go(): Promise<void>;
  ended(run: string): Promise<void>;
}

async function serving(): Promise<Set> {
  const all = await installation();
  const { server, keys, ask } = all;
  const dir = await mkdtemp(join(tmpdir(), 'millrace-credential-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  await startProject({ url: server.url, keys }, { 'tasks/all.ts': tasks });
  return {
    ...all,
    dir,
    async start(task, payload = {}) {
      const body = { payload: { dir, ...payload } };
      return (await ask(`POST /api/v1/tasks/${task}/trigger`, { key: keys.prod, body })).body.id as string;
    },
    async credential(file = 'credential') {
      const path = join(dir, file);
      await expect.poll(() => existsSync(path), { timeout: 20_000, interval: 20 }).toBe(true);
      return readFile(path, 'utf8');
    },
    go: () => writeFile(join(dir, 'go'), ''),
    async ended(run) {
      await expect
        .poll(async () => (await ask(`GET /api/v3/runs/${run}`, { key: keys.prod })).body.isCompleted, {
          timeout: 20_000,
        })
        .toBe(true);
    },
  };
}

const claimsOf = (credential: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(credential.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;

const signed = (key: string, claims: object): string => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${part({ alg: 'HS256' })}.${part(claims)}`;
  return `${attemptMarker}${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
};

describe('the credential of an attempt', { timeout: 60_000 }, () => {
  test('permits the operations of a run, but not administration', async () => {
    const { ask, server, start, credential, go, projectRef } = await serving();
    await start('holds');
    const key = await credential();
    expect(key).toMatch(/^svc_run_eyJ[\w-]*\.[\w-]+\.[\w-]+$/);
    const at = `/api/v1/projects/${projectRef}`;
    expect((await ask('GET /api/v1/runs', { key })).status).toBe(200);
    expect((await ask('POST /api/v1/tasks/holds/trigger', { key, body: { payload: {} } })).status).toBe(200);
    const setting = { name: 'A', value: '1' };
    expect((await ask(`POST ${at}/envvars/prod`, { key, body: setting })).status).toBe(200);
    const refused: readonly (readonly [request: string, body?: object])[] = [
      [`GET ${at}/envvars`],
      [`POST ${at}/envvars/prod`, { name: 'NODE_OPTIONS', value: '--import=data:text/javascript,1' }],
      ['POST /runner/v1/versions', { contentHash: 'a'.repeat(64), tasks: [] }],
      ['POST /api/v1/auth/jwt', {}],
      ['POST /api/v1/auth/jwt/claims', {}],
      ['POST /api/v1/auth/public-tokens', { scopes: ['admin'] }],
      ['POST /api/v1/auth/public-tokens', { scopes: ['*:all'] }],
      ['PUT /api/v1/retention', { days: 1 }],
      [`POST ${at}/notifications/prod/endpoints`, { url: 'https://example.com', types: ['run.failed'] }],
      [`POST ${at}/branches`, { branch: 'x' }],
      ['PUT /realtime/v1/sessions/any/in'],
    ];
    for (const [request, body] of refused)
      expect([request, (await ask(request, { key, body })).status]).toEqual([request, 403]);
    // Operations for users are closed to it, as to any key.
    expect((await ask(`GET ${at}/prod/keys`, { key })).status).toBe(401);
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/runner/v1/connect`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const status = await new Promise((resolve) => {
      socket.on('unexpected-response', (_, response) => resolve(response.statusCode));
      socket.on('open', () => resolve('open'));
      socket.on('error', () => undefined);
    });
    socket.terminate();
    expect(status).toBe(401);
    await go();
  });

  test('is replaced after the clock of the database was set ahead', async () => {
    const { ask, server, start, credential, go, ended } = await serving();
    const run = await start('repeats');
    const { exp } = claimsOf(await credential());
    server.shiftTime(3_600_000);
    await expect
      .poll(async () => claimsOf(await credential())['exp'], { timeout: 20_000, interval: 50 })
      .toBeGreaterThan(Number(exp) + 3_500);
    expect((await ask('GET /api/v1/runs', { key: await credential() })).status).toBe(200);
    await go();
    await ended(run);
  });

  test('ends with the attempt', async () => {
    const { ask, start, credential, go, ended } = await serving();
    const run = await start('holds');
    const key = await credential();
    expect((await ask('GET /api/v1/runs', { key })).status).toBe(200);
    await go();
    await ended(run);
    // Cached for one second at most.
    await expect
      .poll(async () => (await ask('GET /api/v1/runs', { key })).status, { timeout: 1_500 })
      .toBe(401);
  });

  test('writes to a session with a token that ends with the attempt', async () => {
    const { ask, server, start, credential, go, ended } = await serving();
    const run = await start('holds');
    const key = await credential();
    const config = { type: 'chat', taskIdentifier: 'says', triggerConfig: { basePayload: {} } };
    await ask('POST /api/v1/sessions', { key, body: { ...config, externalId: 'chat' } });
    const { headers } = await fetch(`${server.url}/realtime/v1/sessions/chat/out`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${key}` },
    });
    const write = async (): Promise<number> =>
      (
        await fetch(
          `${headers.get('x-s2-endpoint')}/streams/${encodeURIComponent(headers.get('x-s2-stream-name') ?? '')}/records`,
          {
            method: 'POST',
            headers: {
              authorization: `Bearer ${headers.get('x-s2-access-token')}`,
              'content-type': 'application/json',
            },
            body: JSON.stringify({ records: [{ body: '{"data":1}' }] }),
          },
        )
      ).status;
    expect(await write()).toBe(200);
    await go();
    await ended(run);
    await expect.poll(write, { timeout: 1_500 }).toBe(401);
  });

  test('differs from that of the next attempt of the same run', async () => {
    const { ask, start, credential, go } = await serving();
    await start('again');
    const second = await credential('credential2');
    const first = await credential('credential1');
    expect((await ask('GET /api/v1/runs', { key: second })).status).toBe(200);
    await expect
      .poll(async () => (await ask('GET /api/v1/runs', { key: first })).status, { timeout: 1_500 })
      .toBe(401);
    await go();
  });

  test('is valid while its code waits, and ends with the key of its runner', async () => {
    const { ask, sql, start, credential, keys, projectRef } = await serving();
    const created = await ask('POST /api/v1/waitpoints/tokens', { key: keys.prod, body: {} });
    const run = await start('suspends', { token: created.body.id });
    const key = await credential();
    await expect
      .poll(async () => (await sql`select from suspended where run_id = ${run}`).length, { timeout: 20_000 })
      .toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    expect((await ask('GET /api/v1/runs', { key })).status).toBe(200);
    // Its runner has released it: no code exists that could call.
    await sql`update suspended set runner_id = null where run_id = ${run}`;
    await expect
      .poll(async () => (await ask('GET /api/v1/runs', { key })).status, { timeout: 1_500 })
      .toBe(401);
    await sql`update suspended set runner_id = 'x' where run_id = ${run}`;
    await expect
      .poll(async () => (await ask('GET /api/v1/runs', { key })).status, { timeout: 1_500 })
      .toBe(200);
    await ask(`POST /api/v1/projects/${projectRef}/prod/regenerate-api-key`, { body: {} });
    await sql`update secret_keys set revoked_at = now() where environment_id = (select id from environments where kind = 'prod')`;
    await expect
      .poll(async () => (await ask('GET /api/v1/runs', { key })).status, { timeout: 1_500 })
      .toBe(401);
  });

  test('has at most the rights of the key that signed it', async () => {
    const { ask, start, credential, go, keyWith } = await serving();
    await start('holds');
    const claims = claimsOf(await credential());
    const key = signed(await keyWith(['read:runs']), claims);
    expect((await ask('GET /api/v1/runs', { key })).status).toBe(200);
    expect((await ask('POST /api/v1/tasks/holds/trigger', { key, body: {} })).status).toBe(403);
    const token = (scope: string) =>
      ask('POST /api/v1/auth/public-tokens', { key, body: { scopes: [scope] } });
    expect((await token('read:runs:run_1')).status).toBe(200);
    expect((await token('write:runs:run_1')).status).toBe(403);
    await go();
  });

  test('creates tokens for single objects, for a day at most', async () => {
    const { ask, start, credential, go } = await serving();
    await start('holds');
    const key = await credential();
    const make = (scopes: readonly string[], more: object = {}) =>
      ask('POST /api/v1/auth/public-tokens', { key, body: { scopes, ...more } });
    const single = ['read:runs:run_1', 'trigger:tasks:mail', 'batchTrigger:tasks:a:b', 'read:sessions:x'];
    for (const scope of [...single, 'write:waitpoints:waitpoint_1', 'read:tags:t'])
      expect([scope, (await make([scope])).status]).toEqual([scope, 200]);
    const wide = ['read:runs', 'trigger:tasks', 'read:all', 'write:all', 'read:all:x', 'read:*', 'read:*:x'];
    const denied = [...wide, 'read:runs:*', '*:runs:run_1', 'admin:runs:run_1', 'read:runs:'];
    expect(await make([...single, ...denied])).toMatchObject({
      status: 403,
      body: { code: 'scopes_exceed_key_access', deniedScopes: denied },
    });
    const lifetime = async (expirationTime?: string | number) => {
      const { body } = await make(['read:runs:run_1'], { expirationTime });
      const { exp, iat } = claimsOf(body.token as string) as { exp: number; iat: number };
      return exp - iat;
    };
    expect([await lifetime(), await lifetime('24h')]).toEqual([900, 86_400]);
    for (const expirationTime of ['25h', '30d', Math.floor(Date.now() / 1_000) + 90_000])
      expect(await make(['read:runs:run_1'], { expirationTime })).toMatchObject({
        status: 400,
        body: { error: expect.stringMatching(/^Expiration time cannot exceed 24 hours.* run/) as string },
      });
    await go();
  });

  test('creates nothing that outlives the key of its runner', async () => {
    const { ask, sql, start, credential, go } = await serving();
    await start('holds');
    const key = await credential();
    const expiresAt = Math.floor(Date.now() / 1_000) + 60;
    await sql`update secret_keys set expires_at = to_timestamp(${expiresAt})
               where environment_id = (select id from environments where kind = 'prod')`;
    const packet = async () => {
      const { body } = await ask('PUT /api/v2/packets/mine', { key });
      const [grant = ''] = (new URL(body.presignedUrl as string).pathname.split('/').at(-1) ?? '').split('.');
      return (JSON.parse(Buffer.from(grant, 'base64url').toString()) as { until: number }).until;
    };
    // The end takes effect within a second.
    await expect.poll(packet).toBe(expiresAt * 1_000);
    const { body } = await ask('POST /api/v1/auth/public-tokens', {
      key,
      body: { scopes: ['read:runs:run_1'], expirationTime: '20h' },
    });
    expect(claimsOf(body.token as string)['exp']).toBe(expiresAt);
    await go();
  });

  test('cannot be forged', async () => {
    const { ask, keys, start, credential, go, sign, publicIdOf } = await serving();
    await start('holds');
    const key = await credential();
    const claims = claimsOf(key);
    const now = Math.floor(Date.now() / 1_000);
    const publicToken = sign(keys.prod, { sub: await publicIdOf('prod'), scopes: ['admin'] });
    expect((await ask('GET /api/v1/runs', { key: publicToken })).status).toBe(200);
    const refused = {
      'without its marker': key.slice(attemptMarker.length),
      'a public token with the marker': attemptMarker + publicToken,
      'signed with the key of another environment': signed(keys.stg, claims),
      'signed with another text': signed('svc_prod_sk_000000000000000000000000', claims),
      'of another environment': signed(keys.stg, { ...claims, sub: await publicIdOf('stg') }),
      'of another fence': signed(keys.prod, { ...claims, fence: Number(claims['fence']) + 1 }),
      'of another run': signed(keys.prod, { ...claims, run: 'run_other' }),
      'with a fence that is not a number': signed(keys.prod, { ...claims, fence: '1 or 1=1' }),
      expired: signed(keys.prod, { ...claims, iat: now - 700, exp: now - 1 }),
      'without an expiry': signed(keys.prod, { ...claims, exp: undefined }),
      'with the audience of public tokens': signed(keys.prod, { ...claims, aud: 'https://api.trigger.dev' }),
      'with another signature': `${key.slice(0, key.lastIndexOf('.'))}.${'A'.repeat(43)}`,
      'no token at all': `${attemptMarker}eyJ.a.b`,
    };
    for (const [what, credentialText] of Object.entries(refused))
      expect([what, (await ask('GET /api/v1/runs', { key: credentialText })).status]).toEqual([what, 401]);
    expect((await ask('GET /api/v1/runs', { key: signed(keys.prod, claims) })).status).toBe(200);
    await go();
  });

  test('is in no output', async () => {
    const { ask, keys, start, ended } = await serving();
    const run = await start('says');
    await ended(run);
    expect((await ask(`GET /api/v3/runs/${run}`, { key: keys.prod })).body.output).toBe('<redacted>');
  });
});
