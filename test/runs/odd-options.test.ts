/** Options at the limits of storage: each is stored or rejected with a message, and none causes an internal error. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { sharedServer } from '../support/shared-server.ts';

async function started() {
  const { ask } = await sharedServer();
  const trigger = (options: unknown) =>
    ask('/api/v1/tasks/send/trigger', { method: 'POST', body: { payload: 1, options } });
  return { ask, trigger };
}

test('metadata is an object or the JSON text of one, so that no run breaks the list of runs', async () => {
  const { ask, trigger } = await started();
  for (const metadata of [[1], 'x', 'x{', '5', '[1]', 5, true]) {
    const { status, body } = await trigger({ metadata, metadataType: 'application/json' });
    expect([metadata, status, body.error]).toEqual([
      metadata,
      400,
      expect.stringMatching(/^options.metadata/),
    ]);
  }
  const named = JSON.parse('{"__proto__":{"x":1}}') as unknown;
  expect((await trigger({ metadata: named })).status).toBe(400);
  const { body: run } = await trigger({ metadata: '{"a":1}' });
  const { status, body: page } = await ask('/api/v1/runs');
  expect([status, page.data.map((each: { metadata: unknown }) => each.metadata)]).toEqual([200, [{ a: 1 }]]);
  const put = await ask(`/api/v1/runs/${run.id}/metadata`, {
    method: 'PUT',
    body: JSON.parse('{"metadata":{"__proto__":{"x":1}}}') as unknown,
  });
  expect(put.status).toBe(400);
  expect((await ask(`/api/v1/runs/${run.id}/metadata`)).body.metadata).toEqual({ a: 1 });
});

test('keys of the maximum length are stored, with any characters', async () => {
  const { ask, trigger } = await started();
  const key = Array.from(randomBytes(4_096), (byte) => String.fromCodePoint(0x4e00 + byte * 79))
    .join('')
    .slice(0, 2_048);
  const first = await trigger({ idempotencyKey: key });
  expect(first).toMatchObject({ status: 200, body: { isCached: false } });
  expect((await trigger({ idempotencyKey: key })).body).toEqual({ id: first.body.id, isCached: true });
  expect((await trigger({ idempotencyKey: `${key.slice(1)}x` })).body.isCached).toBe(false);
  const reset = await ask(`/api/v1/idempotencyKeys/${encodeURIComponent(key)}/reset`, {
    method: 'POST',
    body: { taskIdentifier: 'send' },
  });
  expect(reset.status).toBe(200);
  expect((await trigger({ idempotencyKey: key })).body.isCached).toBe(false);
  const open = () => ask('/api/v3/batches', { method: 'POST', body: { runCount: 1, idempotencyKey: key } });
  expect((await open()).body.id).toBe((await open()).body.id);
  const token = () => ask('/api/v1/waitpoints/tokens', { method: 'POST', body: { idempotencyKey: key } });
  expect((await token()).body.id).toBe((await token()).body.id);
});

test('an empty idempotency key is invalid in a body, and ignored in a header', async () => {
  const { ask, trigger } = await started();
  const empty = { idempotencyKey: '' };
  for (const refused of [
    await trigger(empty),
    await ask('/api/v3/batches', { method: 'POST', body: { runCount: 1, ...empty } }),
    await ask('/api/v1/waitpoints/tokens', { method: 'POST', body: empty }),
  ]) {
    expect(refused.status).toBe(400);
    expect(refused.body.error).toMatch(/must not be empty; leave it out for none at ".*idempotencyKey"/);
  }
  const item = { index: 0, task: 'send', options: empty };
  const { body: batch } = await ask('/api/v3/batches', { method: 'POST', body: { runCount: 1 } });
  const upload = {
    method: 'POST',
    body: JSON.stringify(item),
    headers: { 'content-type': 'application/x-ndjson' },
  };
  const { status, body } = await ask(`/api/v3/batches/${batch.id}/items`, upload);
  expect([status, body.error]).toEqual([422, expect.stringContaining('must not be empty')]);

  const headers = { 'idempotency-key': '', 'idempotency-key-ttl': '' };
  const post = { method: 'POST', body: {}, headers };
  const plain = [
    await ask('/api/v1/tasks/send/trigger', post),
    await ask('/api/v1/tasks/send/trigger', post),
  ];
  expect(plain.map(({ body: { isCached } }) => isCached)).toEqual([false, false]);
  const keyed = { ...post, body: { options: { idempotencyKey: 'k' } } };
  const { body: first } = await ask('/api/v1/tasks/send/trigger', keyed);
  expect((await ask('/api/v1/tasks/send/trigger', keyed)).body).toEqual({ id: first.id, isCached: true });
});

test('an invalid option is rejected and named, even if another option takes precedence', async () => {
  const { ask, trigger } = await started();
  const debounce = { key: 'd', delay: '5s' };
  const cases: [unknown, string][] = [
    [{ debounce, delay: 'soon' }, 'options.delay: "soon"'],
    [{ idempotencyKeyTTL: 'soon' }, 'options.idempotencyKeyTTL: "soon"'],
    [{ tags: ['a\0'] }, 'NUL character at "options.tags.0"'],
    [{ idempotencyKey: 'a\0' }, 'NUL character at "options.idempotencyKey"'],
    [{ concurrencyKey: 'a\0' }, 'NUL character at "options.concurrencyKey"'],
    [{ debounce: { ...debounce, key: 'a\0' } }, 'NUL character at "options.debounce.key"'],
    [{ idempotencyKey: 'a\ud800' }, 'unpaired surrogate at "options.idempotencyKey"'],
    [{ concurrencyKey: 'a\ud800' }, 'unpaired surrogate at "options.concurrencyKey"'],
    [{ debounce: { ...debounce, key: 'a\ud800' } }, 'unpaired surrogate at "options.debounce.key"'],
    [{ tags: ['a\ud83d'] }, 'unpaired surrogate at "options.tags.0"'],
    [{ tags: 'a\ud83d' }, 'unpaired surrogate at "options.tags.0"'],
    [{ queue: { name: 'a\0' } }, 'NUL character at "options.queue.name"'],
    [{ queue: { name: 'a\ud800' } }, 'unpaired surrogate at "options.queue.name"'],
    [{ region: 'a\ud800' }, 'unpaired surrogate at "options.region"'],
    [{ description: 'a\ud800' }, 'unpaired surrogate at "options.description"'],
    [{ lockToVersion: 'a\0' }, 'NUL character at "options.lockToVersion"'],
    [
      { idempotencyKey: 'k', idempotencyKeyOptions: { key: '\ud800', scope: 'run' } },
      'options.idempotencyKeyOptions.key',
    ],
    [{ maxAttempts: 1_001 }, 'expected number to be <=1000 at "options.maxAttempts"'],
    [{ maxAttempts: 0 }, 'at "options.maxAttempts"'],
    [{ maxAttempts: 1.5 }, 'at "options.maxAttempts"'],
  ];
  for (const [options, named] of cases) {
    const { status, body } = await trigger(options);
    expect([status, body.error]).toEqual([400, expect.stringContaining(named)]);
  }
  for (const [payload, named] of [
    ['a\0', /^payload: contains a NUL character/],
    ['a\ud800', /^payload: contains an unpaired surrogate/],
  ]) {
    const text = { payload, options: { payloadType: 'text/plain' } };
    const { status, body } = await ask('/api/v1/tasks/send/trigger', { method: 'POST', body: text });
    expect([status, body.error]).toEqual([400, expect.stringMatching(named as RegExp)]);
  }
  const headers = { 'idempotency-key': 'k', 'idempotency-key-ttl': 'soon' };
  const late = await ask('/api/v1/tasks/send/trigger', { method: 'POST', body: {}, headers });
  expect([late.status, late.body.error]).toEqual([
    400,
    expect.stringMatching(/^idempotency-key-ttl: "soon"/),
  ]);
  expect((await ask('/api/v1/runs')).body.data).toEqual([]);
});

test('JSON keeps all characters, even NUL and unpaired surrogates', async () => {
  const { ask, trigger } = await started();
  const odd = { 'k\ud800': 'a\0b\udc00' };
  const { body: run } = await ask('/api/v1/tasks/send/trigger', { method: 'POST', body: { payload: odd } });
  expect((await ask(`/api/v3/runs/${run.id}`)).body.payload).toEqual(odd);
  const asText = await trigger({ metadata: '{"a":"x\ud800"}' });
  const asObject = await trigger({ metadata: { a: 'x\ud800' } });
  for (const { body } of [asText, asObject])
    expect((await ask(`/api/v1/runs/${body.id}/metadata`)).body.metadata).toEqual({ a: 'x\ud800' });
});

test('values that cannot be stored are rejected when they are added later', async () => {
  const { ask, trigger } = await started();
  const { body: run } = await trigger({ tags: ['a'] });
  for (const tags of ['b\ud83d', ['b', 'b\ud83d'], ['b\0']]) {
    const { status, body } = await ask(`/api/v1/runs/${run.id}/tags`, { method: 'POST', body: { tags } });
    expect([status, body.error]).toEqual([400, expect.stringMatching(/must not contain .* at "tags\.\d"/)]);
  }
  expect((await ask(`/api/v3/runs/${run.id}`)).body.tags).toEqual(['a']);
  const { body: batch } = await ask('/api/v3/batches', { method: 'POST', body: { runCount: 1 } });
  const lines = async (options: object) =>
    ask(`/api/v3/batches/${batch.id}/items`, {
      method: 'POST',
      body: JSON.stringify({ index: 0, task: 'send', options }),
      headers: { 'content-type': 'application/x-ndjson' },
    });
  for (const [options, named] of [
    [{ tags: ['a\ud83d'] }, 'at "options.tags.0"'],
    [{ queue: { name: 'a\0' } }, 'at "options.queue.name"'],
    [{ maxAttempts: 1_001 }, 'at "options.maxAttempts"'],
  ] as const) {
    const { status, body } = await lines(options);
    expect([status, body.error]).toEqual([422, expect.stringContaining(named)]);
  }
});

test('values that are out of range or too deeply nested are rejected', async () => {
  const { ask, trigger } = await started();
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  const cases: [unknown, RegExp][] = [
    [{ maxAttempts: 2_147_483_648 }, /maxAttempts/],
    [{ ttl: 0.4 }, /ttl/],
    [{ concurrencyKey: 'k'.repeat(513) }, /concurrencyKey/],
    [{ region: 5 }, /region/],
  ];
  for (const [options, named] of cases) {
    const { status, body } = await trigger(options);
    expect([status, body.error]).toEqual([400, expect.stringMatching(named)]);
  }
  const { status, body } = await ask('/api/v1/tasks/send/trigger', {
    method: 'POST',
    body: `{"payload":${deep}}`,
  });
  expect([status, body.error]).toEqual([
    400,
    'payload.0.0: nested more than 1000 levels deep; send a flatter value.',
  ]);
  const { body: token } = await ask('/api/v1/waitpoints/tokens', { method: 'POST', body: {} });
  const completed = await ask(`/api/v1/waitpoints/tokens/${token.id}/complete`, {
    method: 'POST',
    body: `{"data":${deep}}`,
  });
  expect(completed.status).toBe(400);
});

test('a region is stored, shown, filtered by and replayed, and has no other effect', async () => {
  const { ask, trigger } = await started();
  const { body: eu } = await trigger({ region: 'eu' });
  await trigger({ region: 'us' });
  await trigger({});
  expect((await ask(`/api/v3/runs/${eu.id}`)).body.region).toBe('eu');
  const { body: again } = await ask(`/api/v1/runs/${eu.id}/replay`, { method: 'POST' });
  const { body: listed } = await ask('/api/v1/runs?filter[region]=eu');
  expect(listed.data.map((run: { id: string; region: string }) => [run.id, run.region])).toEqual([
    [again.id, 'eu'],
    [eu.id, 'eu'],
  ]);
  const { body: batch } = await ask('/api/v2/tasks/batch', {
    method: 'POST',
    body: { items: [{ task: 'send', options: { region: 'asia' } }] },
  });
  const { body: inBatch } = await ask(`/api/v1/runs?filter[batch]=${batch.id}&filter[region]=asia,eu`);
  expect(inBatch.data).toHaveLength(1);
});

test('a duration beyond the last date is rejected for a start, and shortened for an end', async () => {
  const { ask, trigger } = await started();
  for (const options of [{ delay: '4000000d' }, { debounce: { key: 'k', delay: '4000000d' } }]) {
    const { status, body } = await trigger(options);
    expect([status, body.error]).toEqual([400, expect.stringContaining('delay: must end by the year 9999')]);
  }
  const { body: delayed } = await trigger({ delay: '1d' });
  const later = { method: 'POST', body: { delay: '4000000d' } };
  expect((await ask(`/api/v1/runs/${delayed.id}/reschedule`, later)).status).toBe(400);
  const longest = '100000000d';
  // One flush: each request gets its own response.
  const together = await Promise.all([
    trigger({ idempotencyKey: 'long', idempotencyKeyTTL: longest }),
    trigger({}),
    trigger({ debounce: { key: 'k', delay: '1d', maxDelay: longest } }),
  ]);
  expect(together.map(({ status }) => status)).toEqual([200, 200, 200]);
  const batch = { runCount: 1, idempotencyKey: 'long', idempotencyKeyTTL: longest };
  expect((await ask('/api/v3/batches', { method: 'POST', body: batch })).status).toBe(202);
  for (const path of ['/api/v1/waitpoints/tokens', '/api/v1/sessions', '/api/v1/runs']) {
    const far = 'filter[createdAt][from]=-999999999999999&filter[createdAt][to]=999999999999999';
    expect([path, (await ask(`${path}?${far}`)).status]).toEqual([path, 200]);
  }
});
