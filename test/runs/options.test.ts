import { expect, test } from 'vitest';
import { sharedInstallation, installation } from '../access/installation.ts';
import { promote } from '../support/promote.ts';

const trigger = 'POST /api/v1/tasks/send/trigger';

test('invalid options are rejected by name', async () => {
  const { ask, keys, sql } = await installation();
  const cases: [options: Record<string, unknown>, status: number, says: RegExp][] = [
    [{ delay: 'soon' }, 400, /^options\.delay: "soon"/],
    [{ delay: '10' }, 400, /^options\.delay/],
    [{ delay: '1h1h' }, 400, /^options\.delay/],
    [{ delay: 5 }, 400, /options\.delay/],
    [{ ttl: 'x' }, 400, /^options\.ttl/],
    [{ ttl: -1 }, 400, /options\.ttl/],
    [{ idempotencyKey: 'x'.repeat(2_049) }, 400, /options\.idempotencyKey/],
    [{ idempotencyKey: 'k', idempotencyKeyTTL: '1y' }, 400, /^options\.idempotencyKeyTTL/],
    [{ idempotencyKeyOptions: { key: 'k', scope: 'project' } }, 400, /options\.idempotencyKeyOptions\.scope/],
    [{ tags: 'x'.repeat(129) }, 400, /at most 128/],
    [{ tags: Array.from({ length: 11 }, (_, n) => `t${n}`) }, 422, /at most 10 tags/],
    [{ maxAttempts: 0 }, 400, /options\.maxAttempts/],
    [{ maxAttempts: 1.5 }, 400, /options\.maxAttempts/],
    [{ machine: 'huge' }, 400, /options\.machine/],
    [{ priority: 'high' }, 400, /options\.priority/],
    [{ test: 'yes' }, 400, /options\.test/],
    [{ queue: 'mail' }, 400, /options\.queue/],
    [{ metadata: { text: 'x'.repeat(262_144) } }, 413, /^options\.metadata/],
    [{ payloadType: 'application/xml' }, 400, /^options\.payloadType/],
    [{ lockToVersion: '20200101.1' }, 422, /20200101\.1/],
    [{ parentRunId: 'run_x' }, 422, /^options\.parentRunId/],
    [{ debounce: { key: 'k' } }, 400, /options\.debounce\.delay/],
    [{ debounce: { key: '', delay: '1s' } }, 400, /options\.debounce\.key/],
    [{ debounce: { key: 'x'.repeat(513), delay: '1s' } }, 400, /options\.debounce\.key/],
    [{ debounce: { key: 'k', delay: 'soon' } }, 422, /^options\.debounce\.delay/],
    [{ debounce: { key: 'k', delay: '0s' } }, 422, /^options\.debounce\.delay/],
    [{ debounce: { key: 'k', delay: '5s', maxDelay: '5s' } }, 422, /^options\.debounce\.maxDelay/],
    [{ debounce: { key: 'k', delay: '5s', mode: 'middle' } }, 400, /options\.debounce\.mode/],
  ];
  for (const [options, status, says] of cases) {
    const answer = await ask(trigger, { key: keys.prod, body: { payload: 1, options } });
    expect({ options, status: answer.status }).toEqual({ options, status });
    expect(answer.body.error).toMatch(says);
  }
  expect(await sql`select from runs`).toHaveLength(0);
});

test('valid options are stored with the run', async () => {
  const { ask, keys, server, sql } = await installation();
  const register = async (contentHash: string) => {
    const registered = await ask('POST /runner/v1/versions', {
      key: keys.prod,
      body: { contentHash, tasks: [{ id: 'send', filePath: 't.ts' }] },
    });
    await promote(server.url, keys.prod);
    return registered;
  };
  const { body: old } = await register('content-old');
  await register('content-new');
  const { body: created } = await ask(trigger, {
    key: keys.prod,
    body: {
      options: {
        lockToVersion: old.version,
        priority: 10,
        machine: 'micro',
        test: true,
        maxDuration: 1,
        concurrencyKey: 7,
        queue: { name: 'mail!' },
        ttl: 0,
        unknown: 'dropped',
      },
    },
  });
  const { body: run } = await ask(`GET /api/v3/runs/${created.id}`, { key: keys.prod });
  expect(run).toMatchObject({ version: old.version, isTest: true, queue: 'mail', status: 'QUEUED' });
  const [row] = await sql`
    select priority_ms, machine, max_duration, concurrency_key, sort_key < extract(epoch from created_at) * 1000 - 9000 as ahead
      from runs`;
  expect(row).toEqual({
    priority_ms: 10_000,
    machine: 'micro',
    max_duration: 5,
    concurrency_key: '7',
    ahead: true,
  });
});

test('a reset releases an idempotency key, and requires permission to write runs', async () => {
  const { ask, keys, keyWith } = await sharedInstallation();
  const options = { idempotencyKey: 'a/b c' };
  const make = async () => (await ask(trigger, { key: keys.prod, body: { options } })).body;
  const first = await make();
  const reset = (key: string, body: unknown, as = keys.prod) =>
    ask(`POST /api/v1/idempotencyKeys/${encodeURIComponent(key)}/reset`, { key: as, body });
  expect((await reset('a/b c', { taskIdentifier: 'other' })).status).toBe(404);
  expect((await reset('a/b c', {})).status).toBe(400);
  expect((await reset('a/b c', { taskIdentifier: 'send' }, await keyWith(['read:runs']))).status).toBe(403);
  expect((await reset('a/b c', { taskIdentifier: 'send' }, keys.stg)).status).toBe(404);
  expect((await make()).id).toBe(first.id);
  expect(await reset('a/b c', { taskIdentifier: 'send' })).toMatchObject({
    status: 200,
    body: { id: 'a/b c' },
  });
  expect(await make()).toMatchObject({ isCached: false });
});
