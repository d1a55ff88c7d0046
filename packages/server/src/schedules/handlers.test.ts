import type { Schedule } from '@millrace/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../../test/support/database.ts';
import { masterKey } from '../auth/testing/installation.ts';
import { connect, type Sql } from '../db/connect.ts';
import type { Log } from '../logger.ts';
import { startServer, type RunningServer } from '../server.ts';
import { promote } from '../../../../test/support/promote.ts';

const quiet: Log = { info() {}, warn() {}, error() {} };
let database: TestDatabase;
let server: RunningServer;
let sql: Sql;

beforeAll(async () => {
  database = await testDatabase();
  server = await startServer({ database: database.connection, port: 0, masterKey, log: quiet });
  sql = connect(database.connection, { name: 'test', max: 2 });
  await register('prod');
});
afterAll(async () => {
  await sql.end();
  await server.close();
  await database.drop();
});

type Kind = 'dev' | 'stg' | 'prod' | 'preview';
const keyOf = (kind: Kind): string => server.credentials?.environments[kind].secretKey ?? '';

async function call(method: string, path: string, body?: unknown, kind: Kind = 'prod', key = keyOf(kind)) {
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  // Every reply is JSON, whose shape is tested.
  return {
    status: response.status,
    body: (await response.json()) as Record<string, never> & Schedule & { error: string },
  };
}

let contents = 0;
async function register(kind: Kind, tasks: unknown[] = []) {
  const registered = await call(
    'POST',
    '/runner/v1/versions',
    {
      contentHash: `content-${++contents}`,
      tasks: [
        { id: 'report', filePath: 'tasks/report.ts', scheduled: true },
        { id: 'plain', filePath: 'tasks/plain.ts' },
        ...tasks,
      ],
    },
    kind,
  );
  if (registered.status === 200) await promote(server.url, keyOf(kind));
  return registered;
}

const create = (body: object, kind?: Kind) =>
  call(
    'POST',
    '/api/v1/schedules',
    { task: 'report', cron: '0 0 * * *', deduplicationKey: '', ...body },
    kind,
  );

describe('create', () => {
  test('returns the schedule with its next time, in its zone', async () => {
    const { status, body } = await create({
      cron: '0 9 * * 1-5',
      timezone: 'Asia/Kolkata',
      externalId: 'user_1',
      deduplicationKey: 'mine',
      window: '15m',
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      type: 'IMPERATIVE',
      task: 'report',
      active: true,
      deduplicationKey: 'mine',
      externalId: 'user_1',
      generator: {
        type: 'CRON',
        expression: '0 9 * * 1-5',
        description: 'At 09:00 AM, Monday through Friday',
      },
      timezone: 'Asia/Kolkata',
      window: '15m',
      missed: 'once',
      overlap: 'allow',
      environments: [{ type: 'PRODUCTION' }],
    });
    expect(body.id).toMatch(/^sched_[a-z0-9]{21,26}$/);
    expect(body.nextRun).toMatch(/T03:30:00\.000Z$/);
    const offset = Date.parse(body.nextRunEffectiveAt ?? '') - Date.parse(body.nextRun ?? '');
    expect(offset).toBeGreaterThanOrEqual(0);
    expect(offset).toBeLessThan(15 * 60_000);
  });

  test('with the same key replaces the schedule, except for its task and whether it is active', async () => {
    const first = (await create({ deduplicationKey: 'twice', externalId: 'a', timezone: 'Europe/Paris' }))
      .body;
    await call('POST', `/api/v1/schedules/${first.id}/deactivate`);
    await register('prod', [{ id: 'other', filePath: 'o.ts', scheduled: true }]);
    const { status, body } = await create({ deduplicationKey: 'twice', cron: '@daily', task: 'other' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: first.id,
      task: 'report',
      active: false,
      timezone: 'UTC',
      nextRun: null,
    });
    expect(body).not.toHaveProperty('externalId');
    expect(body.generator.expression).toBe('@daily');
  });

  test('creates an inactive schedule, and activates or deactivates an existing one', async () => {
    const settings = { deduplicationKey: 'quiet', cron: '* * * * *' };
    const { status, body } = await create({ ...settings, active: false });
    expect(status).toBe(200);
    expect(body).toMatchObject({ active: false, nextRun: null, nextRunEffectiveAt: null });
    const [row] = await sql<{ next_at: Date | null }[]>`select next_at from schedules where id = ${body.id}`;
    expect(row?.next_at).toBeNull();
    expect((await create(settings)).body).toMatchObject({ id: body.id, active: false, nextRun: null });
    const active = (await create({ ...settings, active: true })).body;
    expect(active).toMatchObject({ id: body.id, active: true, nextRun: expect.any(String) as string });
    expect((await create({ ...settings, active: false })).body).toMatchObject({
      active: false,
      nextRun: null,
    });
    expect((await create({ ...settings, active: 'no' })).status).toBe(400);
  });

  test('concurrently with one key creates one schedule', async () => {
    const created = await Promise.all(Array.from({ length: 8 }, () => create({ deduplicationKey: 'race' })));
    expect(created.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(new Set(created.map(({ body }) => body.id)).size).toBe(1);
  });

  test('uses separate keys in every environment', async () => {
    await register('stg');
    const [prod, stg] = await Promise.all([
      create({ deduplicationKey: 'k' }),
      create({ deduplicationKey: 'k' }, 'stg'),
    ]);
    expect(prod.body.id).not.toBe(stg.body.id);
    expect((await call('GET', '/api/v1/schedules/k', undefined, 'stg')).body.id).toBe(stg.body.id);
  });

  test('accepts a task that is not deployed yet, if another environment of the project has it', async () => {
    const early = await create({ deduplicationKey: 'early' }, 'dev');
    expect(early).toMatchObject({ status: 200, body: { task: 'report', active: true } });
    const at = `/api/v1/schedules/${early.body.id}`;
    const changed = await call('PUT', at, { task: 'report', cron: '0 1 * * *' }, 'dev');
    expect(changed).toMatchObject({ status: 200, body: { generator: { expression: '0 1 * * *' } } });
    const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-03T00:00:00Z' };
    expect((await call('POST', `${at}/backfill`, range, 'dev')).status).toBe(422);
    expect(await create({ task: 'plain' }, 'dev')).toMatchObject({
      status: 422,
      body: { error: expect.stringContaining('is not a scheduled task') as string },
    });
    expect((await call('DELETE', at, undefined, 'dev')).status).toBe(200);
  });

  test('without a key generates one, shown once', async () => {
    const { body } = await create({});
    expect(body.deduplicationKey).toMatch(/^[0-9a-f]{24}$/);
    expect((await call('GET', `/api/v1/schedules/${body.id}`)).body).not.toHaveProperty('deduplicationKey');
  });

  test.each([
    [{ cron: '60 * * * *' }, 422, /Invalid cron expression: .*write 0-59/],
    [{ cron: '0 0 0 * * *' }, 422, /CRON expressions with seconds are not allowed.*write five/],
    [{ cron: '' }, 422, /it is empty; write five fields/],
    [{ cron: '0 0 30 2 *' }, 422, /dates that never occur; write days/],
    [{ timezone: 'Mars/Olympus' }, 422, /Invalid IANA timezone: 'Mars\/Olympus'.*Write a name/],
    [{ window: '25h' }, 422, /longer than 24 hours; write at most/],
    [{ window: '101%' }, 422, /write 0% to 100%/],
    [{ window: 'soon' }, 400, /write whole minutes or hours.*"window"/],
    [{ task: 'nope' }, 422, /Task with identifier nope not found in project\. Deploy/],
    [
      { task: 'plain' },
      422,
      /Task with identifier plain is not a scheduled task\. Declare it with schedules\.task/,
    ],
    [{ task: '' }, 400, /"task"/],
    [{ cron: undefined }, 400, /"cron"/],
    [{ cron: 5 }, 400, /"cron"/],
    [{ deduplicationKey: undefined }, 400, /"deduplicationKey"/],
    [{ deduplicationKey: 'a\u0000b' }, 400, /NUL/],
    [{ deduplicationKey: 'a\ud800' }, 400, /unpaired surrogate at "deduplicationKey"/],
    [{ externalId: '\udfffb' }, 400, /unpaired surrogate at "externalId"/],
    [{ missed: 'all' }, 400, /write 'skip', 'once' or 'all:'.*"missed"/],
    [{ missed: 'all:8d' }, 422, /Use at most 'all:7d'/],
    [{ overlap: 'wait' }, 400, /"overlap"/],
  ])('rejects %j with %i and suggests a fix', async (wrong, status, message) => {
    const reply = await create(wrong);
    expect(reply.status).toBe(status);
    expect(reply.body.error).toMatch(message);
    // Older clients expect the fields there.
    expect(reply.body.issues).toEqual(reply.body.details);
    expect(reply.body.issues === undefined).toBe(status !== 400);
  });
});

describe('update', () => {
  test('replaces everything but the task and the key', async () => {
    const { id } = (
      await create({ deduplicationKey: 'up', externalId: 'a', timezone: 'Europe/Paris', overlap: 'skip' })
    ).body;
    const { status, body } = await call('PUT', `/api/v1/schedules/${id}`, {
      task: 'report',
      cron: '30 4 1 * *',
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ id, deduplicationKey: 'up', timezone: 'UTC', overlap: 'allow' });
    expect(body.generator.expression).toBe('30 4 1 * *');
    expect(body).not.toHaveProperty('externalId');
    expect(body.nextRun).toMatch(/-01T04:30:00\.000Z$/);
    expect((await call('GET', '/api/v1/schedules/up')).body).toEqual(body);
  });

  test('repairs a schedule whose zone is unknown to this runtime', async () => {
    for (const fix of [
      (key: string) => create({ deduplicationKey: key, timezone: 'Europe/Paris' }),
      (key: string) => call('PUT', `/api/v1/schedules/${key}`, { task: 'report', cron: '0 9 * * *' }),
    ]) {
      const { id } = (await create({ deduplicationKey: 'lost', cron: '0 9 * * *' })).body;
      await sql`update schedules set timezone = 'Mars/Olympus', next_nominal = null, next_at = null where id = ${id}`;
      expect(await fix('lost')).toMatchObject({
        status: 200,
        body: { id, nextRun: expect.stringMatching(/:00:00\.000Z$/) },
      });
    }
  });

  test('of a missing schedule returns 404 and does not create one', async () => {
    const before = (await call('GET', '/api/v1/schedules')).body['pagination'];
    const reply = await call('PUT', '/api/v1/schedules/sched_missing', { task: 'report', cron: '* * * * *' });
    expect(reply).toMatchObject({ status: 404, body: { error: 'Schedule not found' } });
    expect((await call('GET', '/api/v1/schedules')).body['pagination']).toEqual(before);
  });
});

test('a schedule of another environment is not found by any operation', async () => {
  const { id } = (await create({ deduplicationKey: 'hidden' })).body;
  const body = { task: 'report', cron: '* * * * *' };
  const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' };
  const replies = await Promise.all([
    call('GET', `/api/v1/schedules/${id}`, undefined, 'stg'),
    call('GET', '/api/v1/schedules/hidden', undefined, 'stg'),
    call('PUT', `/api/v1/schedules/${id}`, body, 'stg'),
    call('DELETE', `/api/v1/schedules/${id}`, undefined, 'stg'),
    call('POST', `/api/v1/schedules/${id}/activate`, undefined, 'stg'),
    call('POST', `/api/v1/schedules/${id}/deactivate`, undefined, 'stg'),
    call('GET', `/api/v1/schedules/${id}/preview`, undefined, 'stg'),
    call('POST', `/api/v1/schedules/${id}/backfill`, range, 'stg'),
  ]);
  for (const reply of replies)
    expect(reply).toMatchObject({ status: 404, body: { error: 'Schedule not found' } });
  expect((await call('GET', `/api/v1/schedules/${id}`)).status).toBe(200);
});

describe('list', () => {
  test('of an environment without schedules is one empty page', async () => {
    const { body } = await call('GET', '/api/v1/schedules', undefined, 'dev');
    expect(body).toEqual({ data: [], pagination: { currentPage: 1, totalPages: 0, count: 0 } });
  });

  test('returns newest first in pages, and reduces page sizes above 100 to 100', async () => {
    await register('dev');
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.unshift((await create({}, 'dev')).body.id);
    const page = (query: string) => call('GET', `/api/v1/schedules?${query}`, undefined, 'dev');
    const idsOf = ({ body }: Awaited<ReturnType<typeof call>>) =>
      (body['data'] as unknown as Schedule[]).map(({ id }) => id);
    const second = await page('page=2&perPage=2');
    expect(idsOf(second)).toEqual(ids.slice(2, 4));
    expect(second.body['pagination']).toEqual({ currentPage: 2, totalPages: 3, count: 5 });
    expect(idsOf(await page('perPage=1000'))).toEqual(ids);
    expect(idsOf(await page('page=9'))).toEqual([]);
    expect((await page('page=0')).status).toBe(400);
    expect((await page('perPage=x')).status).toBe(400);
  });
});

test('activate and deactivate return the schedule, even when repeated; a deleted one is not found', async () => {
  const { id } = (await create({})).body;
  for (const [verb, active] of [
    ['deactivate', false],
    ['deactivate', false],
    ['activate', true],
    ['activate', true],
  ] as const) {
    const { status, body } = await call('POST', `/api/v1/schedules/${id}/${verb}`);
    expect({ status, active: body.active, next: body.nextRun !== null }).toEqual({
      status: 200,
      active,
      next: active,
    });
  }
  expect(await call('DELETE', `/api/v1/schedules/${id}`)).toEqual({ status: 200, body: { id } });
  expect((await call('DELETE', `/api/v1/schedules/${id}`)).status).toBe(404);
});

test('preview also shows the next ticks of an inactive schedule', async () => {
  const { id } = (await create({ cron: '0 12 29 2 *', window: '1h' })).body;
  await call('POST', `/api/v1/schedules/${id}/deactivate`);
  const { body } = await call('GET', `/api/v1/schedules/${id}/preview?n=2&from=2027-01-01T00:00:00Z`);
  const ticks = body['ticks'] as unknown as { nominalAt: string; effectiveAt: string }[];
  expect(ticks.map(({ nominalAt }) => nominalAt)).toEqual([
    '2028-02-29T12:00:00.000Z',
    '2032-02-29T12:00:00.000Z',
  ]);
  const offsets = ticks.map((tick) => Date.parse(tick.effectiveAt) - Date.parse(tick.nominalAt));
  expect(offsets[0]).toBe(offsets[1]);
  expect(offsets[0]).toBeLessThan(3_600_000);
});

test('time zones need no key, are open to browsers, and omit UTC on request', async () => {
  const response = await fetch(`${server.url}/api/v1/timezones`);
  expect(response.headers.get('access-control-allow-origin')).toBe('*');
  const { timezones } = (await response.json()) as { timezones: string[] };
  expect(timezones[0]).toBe('UTC');
  expect(timezones).toContain('America/Santiago');
  const without = (await (await fetch(`${server.url}/api/v1/timezones?excludeUtc=true`)).json()) as {
    timezones: string[];
  };
  expect(without.timezones).toEqual(timezones.slice(1));
});

test('accepts only secret keys', async () => {
  const token = server.credentials?.personalAccessToken ?? '';
  expect((await call('GET', '/api/v1/schedules', undefined, 'prod', token)).status).toBe(401);
  expect((await call('GET', '/api/v1/schedules', undefined, 'prod', 'nonsense')).status).toBe(401);
});

describe('declared schedules', () => {
  const declared = async () =>
    ((await call('GET', '/api/v1/schedules?perPage=100')).body['data'] as unknown as Schedule[])
      .filter(({ type }) => type === 'DECLARATIVE')
      .toSorted((a, b) => (a.task < b.task ? -1 : 1))
      .map(({ task, generator, timezone, active }) => [task, generator.expression, timezone, active]);
  const task = (id: string, cron: string, more: object = {}) => ({
    id,
    filePath: `tasks/${id}.ts`,
    scheduled: true,
    schedule: { cron, timezone: 'UTC', ...more },
  });

  test('follow the version that is registered: added, changed, removed, and only in their environments', async () => {
    await register('prod', [
      task('a', '0 1 * * *'),
      task('b', '0 2 * * *'),
      task('c', '0 3 * * *', { environments: ['STAGING'] }),
    ]);
    expect(await declared()).toEqual([
      ['a', '0 1 * * *', 'UTC', true],
      ['b', '0 2 * * *', 'UTC', true],
    ]);
    const list = (await call('GET', '/api/v1/schedules?perPage=100')).body['data'] as unknown as Schedule[];
    const a = list.find((schedule) => schedule.task === 'a') as Schedule;
    await call('POST', `/api/v1/schedules/${a.id}/deactivate`);
    await register('prod', [
      task('a', '0 4 * * *', { timezone: 'Europe/Paris' }),
      task('c', '@hourly', { environments: ['prod'] }),
    ]);
    expect(await declared()).toEqual([
      ['a', '0 4 * * *', 'Europe/Paris', false],
      ['c', '@hourly', 'UTC', true],
    ]);
    expect((await call('GET', `/api/v1/schedules/${a.id}`)).body.generator.expression).toBe('0 4 * * *');
    const update = await call('PUT', `/api/v1/schedules/${a.id}`, { task: 'a', cron: '* * * * *' });
    expect(update).toMatchObject({
      status: 422,
      body: { error: expect.stringMatching(/^Cannot update a declarative schedule/) as string },
    });
    await register('prod');
    expect(await declared()).toEqual([]);
  });

  test('missing from a version are set aside, and return with the same id and state', async () => {
    const listed = async () =>
      ((await call('GET', '/api/v1/schedules?perPage=100')).body['data'] as unknown as Schedule[]).filter(
        ({ type }) => type === 'DECLARATIVE',
      );
    await register('prod', [task('day', '0 1 * * *'), task('night', '0 2 * * *')]);
    const before = await listed();
    const idOf = (name: string) => before.find((schedule) => schedule.task === name)?.id ?? '';
    await call('POST', `/api/v1/schedules/${idOf('night')}/deactivate`);
    for (let n = 0; n < 3; n++) {
      await register('prod');
      expect(await listed()).toEqual([]);
      for (const name of ['day', 'night']) {
        expect((await call('GET', `/api/v1/schedules/${idOf(name)}`)).status).toBe(404);
        expect((await call('POST', `/api/v1/schedules/${idOf(name)}/activate`)).status).toBe(404);
      }
      const due = await sql`select from schedules where set_aside and next_at is not null`;
      expect(due).toEqual([]);
      await register('prod', [task('day', '0 5 * * *'), task('night', '0 2 * * *')]);
      const after = await listed();
      expect(after.map(({ id }) => id).toSorted()).toEqual(before.map(({ id }) => id).toSorted());
      expect(after.find((schedule) => schedule.task === 'night')).toMatchObject({
        active: false,
        nextRun: null,
      });
      expect(after.find((schedule) => schedule.task === 'day')).toMatchObject({
        active: true,
        nextRun: expect.stringMatching(/T05:00:00/) as string,
      });
    }
    await register('prod');
  });

  test.each([
    [{ cron: '61 * * * *' }, /Task "bad" in tasks\/bad\.ts: Invalid cron expression/],
    [{ cron: '* * * * *', environments: ['MOON'] }, /environment "MOON" is not supported. Use DEVELOPMENT/],
    [
      { cron: '* * * * *', overlap: 'wait' },
      /overlap "wait" is not supported\. Use allow, skip, queue, cancel/,
    ],
    [{ cron: '* * * * *', missed: 'never' }, /missed: write 'skip'/],
  ])('with invalid settings reject the whole version: %j', async ({ cron, ...more }, message) => {
    const [before] = await sql`select version_id from current_versions order by env desc limit 1`;
    const { status, body } = await register('prod', [task('bad', cron, more)]);
    expect(status).toBe(422);
    expect(body.error).toMatch(message);
    expect(await sql`select version_id from current_versions order by env desc limit 1`).toEqual([before]);
  });
});
