/** The published SDK's `schedules.*` against a real server. */
import { configure, schedules } from '@trigger.dev/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { masterKeyOf } from '../../packages/server/src/auth/seal.ts';
import { startServer, type RunningServer } from '../../packages/server/src/server.ts';
import { testDatabase, type TestDatabase } from '../support/database.ts';
import { promote } from '../support/promote.ts';

let database: TestDatabase;
let server: RunningServer;

beforeAll(async () => {
  database = await testDatabase();
  server = await startServer({
    database: database.connection,
    port: 0,
    masterKey: masterKeyOf(Buffer.alloc(32, 7)),
    log: { info() {}, warn() {}, error() {} },
  });
  const secretKey = server.credentials?.environments.prod.secretKey ?? '';
  const registered = await fetch(`${server.url}/runner/v1/versions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secretKey}` },
    body: JSON.stringify({
      contentHash: 'content-1',
      tasks: [
        { id: 'echo', filePath: 'tasks/echo.ts', scheduled: true },
        { id: 'plain', filePath: 'tasks/plain.ts' },
        { id: 'nightly', filePath: 'tasks/nightly.ts', schedule: { cron: '0 0 * * *', timezone: 'UTC' } },
      ],
    }),
  });
  expect(registered.status).toBe(200);
  await promote(server.url, secretKey);
  configure({ baseURL: server.url, accessToken: secretKey });
});
afterAll(async () => {
  await server.close();
  await database.drop();
});

const create = (deduplicationKey: string) =>
  schedules.create({
    task: 'echo',
    cron: '0 0 * * *',
    timezone: 'America/New_York',
    externalId: 'user_1',
    deduplicationKey,
  });

test('creates, and creates again with the same key', async () => {
  const created = await create('a');
  expect(created).toMatchObject({
    type: 'IMPERATIVE',
    task: 'echo',
    active: true,
    deduplicationKey: 'a',
    externalId: 'user_1',
    generator: { type: 'CRON', expression: '0 0 * * *', description: 'At 12:00 AM' },
    timezone: 'America/New_York',
    environments: [{ type: 'PRODUCTION' }],
  });
  expect(created.nextRun).toBeInstanceOf(Date);
  expect((await create('a')).id).toBe(created.id);
});

test('retrieves and updates', async () => {
  const created = await create('b');
  expect(await schedules.retrieve(created.id)).toEqual(created);
  const updated = await schedules.update(created.id, { task: 'echo', cron: '1 0 * * *' });
  expect(updated).toMatchObject({ id: created.id, timezone: 'UTC', generator: { expression: '1 0 * * *' } });
  expect(updated.externalId ?? undefined).toBeUndefined();
});

test('deactivates, activates and deletes', async () => {
  const { id } = await create('c');
  const off = await schedules.deactivate(id);
  expect([off.active, off.nextRun ?? undefined]).toEqual([false, undefined]);
  const on = await schedules.activate(id);
  expect([on.active, on.nextRun]).toEqual([true, expect.any(Date)]);
  expect(await schedules.del(id)).toMatchObject({ id });
  await expect(schedules.retrieve(id)).rejects.toMatchObject({ status: 404 });
});

test('lists a page with its count, and iterates over all pages', async () => {
  for (const key of ['d', 'e', 'f']) await create(key);
  const page = await schedules.list({ page: 1, perPage: 2 });
  expect(page.data).toHaveLength(2);
  expect(page.hasNextPage()).toBe(true);
  const keys: (string | null | undefined)[] = [];
  const types = new Set<string>();
  for await (const schedule of schedules.list({ perPage: 2 })) {
    keys.push(schedule.deduplicationKey);
    types.add(schedule.type);
  }
  expect(keys).toEqual(expect.arrayContaining(['f', 'e', 'd']));
  expect(types).toEqual(new Set(['DECLARATIVE', 'IMPERATIVE']));
});

test('lists time zones', async () => {
  const { timezones } = await schedules.timezones({ excludeUtc: true });
  expect(timezones).toContain('Europe/Paris');
  expect(timezones).not.toContain('UTC');
});

test.each([
  [{ cron: '0 0 0 * * *' }, /seconds are not allowed/],
  [{ cron: '0 0 30 2 *' }, /never occur/],
  [{ timezone: 'Mars/Olympus' }, /Invalid IANA timezone/],
  [{ task: 'nope' }, /not found in project/],
  [{ task: 'plain' }, /not a scheduled task/],
])('rejects %j with 422 and a reason', async (wrong, message) => {
  const options = { task: 'echo', cron: '0 0 * * *', deduplicationKey: 'bad', ...wrong };
  await expect(schedules.create(options)).rejects.toMatchObject({
    status: 422,
    message: expect.stringMatching(message) as string,
  });
});
