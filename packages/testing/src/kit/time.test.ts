import { auth, queues, RateLimitError, runs, task, wait, type TriggerOptions } from '@millrace/sdk';
import { beforeEach, expect, test } from 'vitest';
import { useMillrace } from '../vitest.ts';

/** The events, each with its minute of the test. */
const seen: string[] = [];
let began = 0;
const see = (what: string): void => {
  seen.push(`${what} at ${Math.round((kit.now().getTime() - began) / 60_000)}`);
};
const run = async (text: string): Promise<void> => see(text);

const note = task({ id: 'note', run });
const short = task({ id: 'short', ttl: '10m', run });
const ask = task({
  id: 'ask',
  run: async (token: string | undefined) => {
    const result = await wait.forToken<string>(token ?? (await wait.createToken()));
    see(result.ok ? result.output : result.error.name);
  },
});
const collect = task({
  id: 'collect',
  batch: { maxSize: 3, maxWait: '30m' },
  run: async (all: string[]) => see(all.join('+')),
});
const accepted = task({ id: 'accepted', triggerLimit: { rate: { limit: 2, period: '1h' } }, run });
const spread = task({
  id: 'spread',
  queue: { name: 'spread', rateLimit: { limit: 6, period: '1h', burst: 1, key: 'concurrencyKey' } },
  run,
});
const failing = task({
  id: 'failing',
  queue: { name: 'failing', rateLimit: { limit: 1, period: '1h' } },
  retry: { maxAttempts: 2, minTimeoutInMs: 60_000, factor: 1, randomize: false },
  run: async () => {
    see('attempt');
    throw new Error('No.');
  },
});
const single = task({
  id: 'single',
  singleton: { onConflict: 'queue' },
  run: async (text: string) => {
    see(`${text} begins`);
    await wait.for({ hours: 1 });
    see(`${text} ends`);
  },
});

const kit = useMillrace({ tasks: [note, short, ask, collect, accepted, spread, failing, single] });

beforeEach(() => {
  seen.length = 0;
  began = kit.now().getTime();
});

test('a debounced run starts after its delay without triggers, with the first payload', async () => {
  const options: TriggerOptions = { debounce: { key: 'k', delay: '30m' } };
  const first = await note.trigger('a', options);
  expect(await kit.drain()).toMatchObject([{ id: first.id, status: 'DELAYED' }]);
  await kit.advance('20m');
  expect((await note.trigger('b', options)).id).toBe(first.id);
  expect(await kit.advance('20m')).toMatchObject([{ id: first.id, status: 'DELAYED' }]);
  expect(await kit.advance('10m')).toEqual([]);
  expect(seen).toEqual(['a at 50']);
  expect((await note.trigger('c', options)).id).not.toBe(first.id);
  expect(await kit.advance('1h')).toEqual([]);
  expect(seen).toEqual(['a at 50', 'c at 80']);
});

test('a repeatedly postponed debounced run starts after its maximum delay, with the last payload', async () => {
  const debounce = { key: 'k', delay: '30m', maxDelay: '70m', mode: 'trailing' } as const;
  for (const text of ['a', 'b', 'c', 'd']) {
    await note.trigger(text, { debounce });
    await note.trigger(`other ${text}`, { debounce: { ...debounce, key: 'other', delay: '5m' } });
    await kit.advance('20m');
  }
  expect(seen).toEqual(['other a at 5', 'other b at 25', 'other c at 45', 'other d at 65', 'd at 70']);
});

test('a wait for a token ends when the token times out', async () => {
  const token = await wait.createToken({ timeout: '2h' });
  await ask.trigger(token.id);
  await ask.trigger(token.id);
  await ask.trigger(undefined);
  expect(await kit.advance('1h')).toHaveLength(2);
  expect(seen).toEqual(['WaitTimeoutError at 10']);
  expect((await wait.retrieveToken(token)).status).toBe('WAITING');
  expect(await kit.advance('1h')).toEqual([]);
  expect(seen.slice(1)).toEqual(['WaitTimeoutError at 120', 'WaitTimeoutError at 120']);
  expect((await wait.retrieveToken(token)).status).toBe('TIMED_OUT');
  // No run can wait for an ended token.
  await ask.trigger(token.id);
  expect(await kit.drain()).toEqual([]);
  expect(seen).toHaveLength(4);
});

test('a token that is completed in time does not time out later', async () => {
  const token = await wait.createToken({ timeout: new Date(Date.now() + 7_200_000) });
  await ask.trigger(token.id);
  await kit.advance('1h');
  await wait.completeToken(token, 'approved');
  expect(await kit.drain()).toEqual([]);
  await kit.advance('1 day');
  expect(seen).toEqual(['approved at 60']);
  expect((await wait.retrieveToken(token)).status).toBe('COMPLETED');
});

test('the idempotency key of a token expires', async () => {
  const options = { idempotencyKey: 'k', idempotencyKeyTTL: '1h', timeout: '1d' };
  const first = await wait.createToken(options);
  await kit.advance('59m');
  expect(await wait.createToken(options)).toMatchObject({ id: first.id, isCached: true });
  await kit.advance('1m');
  const second = await wait.createToken(options);
  expect(second).toMatchObject({ isCached: false });
  expect(second.id).not.toBe(first.id);
});

test('triggers are collected until their time or their number is reached', async () => {
  const first = await collect.trigger('a');
  await kit.advance('20m');
  expect((await collect.trigger('b')).id).toBe(first.id);
  const other = await collect.trigger('x', { batchKey: 'other' });
  expect(await kit.drain()).toMatchObject([
    { id: first.id, reason: 'collecting' },
    { id: other.id, reason: 'collecting' },
  ]);
  await kit.advance('10m');
  expect(seen).toEqual(['a+b at 30']);
  // That run no longer collects payloads.
  expect((await collect.trigger('c')).id).not.toBe(first.id);
  await kit.advance('10m');
  for (const text of ['d', 'e', 'f']) await collect.trigger(text);
  expect(await kit.drain()).toMatchObject([{ reason: 'collecting' }, { reason: 'collecting' }]);
  expect(seen).toEqual(['a+b at 30', 'c+d+e at 40']);
  expect(await kit.advance('30m')).toEqual([]);
  expect(seen.slice(2)).toEqual(['x at 50', 'f at 70']);
});

test('a trigger limit accepts triggers again when its period has passed', async () => {
  await accepted.trigger('a');
  await kit.advance('30m');
  await accepted.trigger('b');
  await expect(accepted.trigger('c')).rejects.toThrow(RateLimitError);
  const dropped = await accepted.trigger('c', { triggerLimit: { onExceed: 'drop' } });
  expect(dropped.isDropped).toBe(true);
  await kit.advance('29m');
  await expect(accepted.trigger('c')).rejects.toThrow(/is accepted at/);
  await kit.advance('1m');
  await accepted.trigger('d');
  await expect(accepted.trigger('e')).rejects.toThrow(RateLimitError);
  await kit.advance('1 day');
  await accepted.trigger('f');
  await kit.drain();
  expect(seen).toEqual(['a at 0', 'b at 30', 'd at 60', 'f at 1500']);
});

test('a rate limit per key spreads out its starts, and counts retries', async () => {
  for (const text of ['a1', 'a2', 'a3', 'b1', 'b2'])
    await spread.trigger(text, { concurrencyKey: text.slice(0, 1) });
  await failing.trigger();
  expect(await kit.drain()).toHaveLength(4);
  expect(seen.toSorted()).toEqual(['a1 at 0', 'attempt at 0', 'b1 at 0']);
  expect(await kit.advance('2h')).toEqual([]);
  expect(seen.slice(3).toSorted()).toEqual(['a2 at 10', 'a3 at 20', 'attempt at 60', 'b2 at 10']);
});

test('a run whose rate limit lasts longer than its ttl expires', async () => {
  await spread.trigger('a');
  const { id } = await spread.trigger('b', { ttl: '5m' });
  await spread.trigger('c');
  await kit.advance('4m');
  expect((await runs.retrieve(id)).status).toBe('QUEUED');
  await kit.advance('2m');
  expect((await runs.retrieve(id)).status).toBe('EXPIRED');
  expect(await kit.advance('1h')).toEqual([]);
  expect(seen).toEqual(['a at 0', 'c at 10']);
});

test('the ttl of a task begins when its delay ends, also for a run whose task is in no version', async () => {
  await queues.pause({ type: 'task', name: 'short' });
  const delayed = await short.trigger('a', { delay: '1h' });
  const endless = await short.trigger('b', { ttl: 0 });
  const unknown = await task({ id: 'unknown', run }).trigger('c', { ttl: '20m' });
  const statuses = () =>
    Promise.all([delayed, endless, unknown].map(async ({ id }) => (await runs.retrieve(id)).status));
  await kit.advance('19m');
  expect(await statuses()).toEqual(['DELAYED', 'QUEUED', 'PENDING_VERSION']);
  await kit.advance('2m');
  expect(await statuses()).toEqual(['DELAYED', 'QUEUED', 'EXPIRED']);
  await kit.advance('48m');
  expect(await statuses()).toEqual(['QUEUED', 'QUEUED', 'EXPIRED']);
  await kit.advance('2m');
  expect(await statuses()).toEqual(['EXPIRED', 'QUEUED', 'EXPIRED']);
  await queues.resume({ type: 'task', name: 'short' });
  expect(await kit.drain()).toEqual([]);
  expect(seen).toEqual(['b at 71']);
});

test('an idempotency key returns its run until it expires', async () => {
  const options: TriggerOptions = { idempotencyKey: 'k', idempotencyKeyTTL: '2h' };
  const first = await note.trigger('a', options);
  await kit.drain();
  await kit.advance('119m');
  expect(await note.trigger('b', options)).toMatchObject({ id: first.id, isCached: true });
  await kit.advance('1m');
  const second = await note.trigger('c', options);
  expect(second).toMatchObject({ isCached: false });
  // Without its own TTL, it is remembered for 30 days.
  const third = await note.trigger('d', { idempotencyKey: 'other' });
  await kit.advance('29 days');
  expect(await note.trigger('e', { idempotencyKey: 'other' })).toMatchObject({ id: third.id });
  await kit.advance('1 day');
  expect(await note.trigger('f', { idempotencyKey: 'other' })).toMatchObject({ isCached: false });
  await kit.drain();
  expect(seen.map((text) => text.slice(0, 1))).toEqual(['a', 'c', 'd', 'f']);
});

test('the runs of a singleton follow one another', async () => {
  await single.trigger('a');
  await single.trigger('b');
  expect((await kit.drain()).map(({ status }) => status).toSorted()).toEqual(['DELAYED', 'WAITING']);
  expect(await kit.advance('3h')).toEqual([]);
  expect(seen).toEqual(['a begins at 0', 'a ends at 60', 'b begins at 60', 'b ends at 120']);
});

test('public tokens are valid from the moved time on, until their end', async () => {
  await kit.advance('60 days');
  const { id, publicAccessToken = '' } = await note.trigger('a');
  await kit.drain();
  const created = await auth.createPublicToken({
    scopes: { read: { runs: id } },
    expirationTime: new Date(Date.now() + 2 * 3_600_000),
  });
  const read = (accessToken: string) =>
    auth.withAuth({ accessToken }, async () => (await runs.retrieve(id)).status);
  expect(await read(publicAccessToken)).toBe('COMPLETED');
  expect(await read(created)).toBe('COMPLETED');
  // The server caches a valid token for a second of real time.
  const hasEnded = async (accessToken: string) => {
    const attempt = () => read(accessToken).catch((error: Error) => error.name);
    await expect.poll(attempt, { timeout: 30_000 }).toBe('AuthenticationError');
  };
  await kit.advance('61m');
  await hasEnded(publicAccessToken);
  expect(await read(created)).toBe('COMPLETED');
  await kit.advance('1h');
  await hasEnded(created);
});
