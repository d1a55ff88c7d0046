/** A new user follows docs/rate-limits.md: its tasks, commands and code, next to `millrace dev`. */
import { queues, runs, tasks } from '@millrace/sdk';
import { expect, test } from 'vitest';
import { besideDev, blocksOf } from '../cli/documented-page.ts';

const blocks = await blocksOf('rate-limits.md');
const [sendMail = '', provider = '', , sync = '', notify = '', change = ''] = blocks('ts');
const [start = '', rates = ''] = blocks('sh');

const { cli, printed, ready } = besideDev({
  'tasks/mail.ts': sendMail,
  'tasks/provider.ts': provider,
  'tasks/sync.ts': sync.split('\nawait ')[0]!,
  'tasks/notify.ts': notify.split('\nconst {')[0]!,
});

const own = { type: 'task', name: 'send-mail' } as const;
const startedAt = async (ids: readonly string[]): Promise<number[]> => {
  const found = await Promise.all(ids.map((id) => runs.poll(id, { pollIntervalMs: 50 })));
  return found.map((run) => run.startedAt!.getTime()).toSorted((a, b) => a - b);
};

test('the first example shows its limit and the remaining starts', async () => {
  const listed = await printed(start);
  expect(listed).toMatch(/task\/send-mail +\d +0 +none +100\/1m \(99 left\)/);
  expect(listed).toMatch(/provider +0 +0 +none +100\/1m \(100 left\)/);
  expect(listed).toMatch(/task\/sync +0 +0 +none +10\/1m, each key/);
});

test('the commands change it, and report invalid input', async () => {
  expect((await printed(rates)).trim().split('\n')).toEqual([
    'The queue task/send-mail may start 20/1m, 5 at once.',
    'The queue task/send-mail may start any number of runs.',
    'The queue task/send-mail may start 100/1m.',
  ]);
  for (const [args, sentence] of [
    [['--to', '0/1m'], 'rateLimit.limit must be a whole number from 1 to 1000000; got 0.'],
    [['--to', '5/1y'], 'rateLimit.period must be whole seconds, or a duration such as 1m or 24h'],
    [['--to', '5/40d'], 'from 1 second to 31 days; got "40d".'],
    [['--to', '5/1m', '--burst', '6'], 'rateLimit.burst must be a whole number from 1 to limit, which is 5'],
    [['--to', 'fast'], 'Must be a count and a period such as 100/1m or 5/1s, none, or code.'],
    [['--to', 'none', '--burst', '2'], '--burst and --per-key require a limit'],
  ] as const) {
    const { exitCode, stderr } = await cli('queues', 'rate', 'task/send-mail', ...args);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(sentence)]);
  }
}, 30_000);

test('the code changes it, and runs start accordingly: first a burst, then evenly', async () => {
  const body = change
    .replace(/^import .*$/m, '')
    .replace(' as const', '')
    .replace('console.log(', 'return [')
    .replace('nextStartAt);', 'nextStartAt];');
  const AsyncFunction = (async () => {}).constructor as new (
    ...parts: string[]
  ) => (sdk: typeof queues) => Promise<[number, Date | null]>;
  const [available, next] = await new AsyncFunction('queues', body.split('\nawait queues.reset')[0]!)(queues);
  expect(available).toBeLessThanOrEqual(5);
  expect(next === null || next instanceof Date).toBe(true);

  await queues.overrideRateLimit(own, { limit: 5, period: 1, burst: 1 });
  const handles = await Promise.all(
    Array.from({ length: 6 }, () => tasks.trigger('send-mail', { to: 'ada@mail.example' })),
  );
  const times = await startedAt(handles.map(({ id }) => id));
  for (let n = 1; n < times.length; n++) expect(times[n]! - times[n - 1]!).toBeGreaterThanOrEqual(150);
  // A timer starts them: polling once a second would take five seconds.
  expect(times.at(-1)! - times[0]!).toBeLessThan(2_500);
});

test('a waiting run shows when it will start, and starts when the limit is removed', async () => {
  await queues.overrideRateLimit(own, { limit: 1, period: '1h' });
  const first = await tasks.trigger('send-mail', { to: 'ada@mail.example' });
  const second = await tasks.trigger('send-mail', { to: 'ada@mail.example' });
  await expect
    .poll(async () => (await cli('why', second.id)).stdout, { timeout: 10_000, interval: 200 })
    .toMatch(
      /^QUEUED  The queue "task\/send-mail" may start 1 run in 3600 seconds\. This run may start at \d{4}-/,
    );
  await queues.overrideRateLimit(own, null);
  await runs.poll(first, { pollIntervalMs: 50 });
  await runs.poll(second, { pollIntervalMs: 50 });
  const reset = await queues.resetRateLimit(own);
  expect(reset.rateLimit).toMatchObject({
    isOverridden: false,
    current: { limit: 100, period: 60, burst: 100 },
  });
}, 30_000);

test('triggers above their limit are dropped or rejected, with a reason', async () => {
  const notified = (key: string, onExceed?: 'refuse' | 'drop') =>
    tasks.trigger('notify', { user: key }, { triggerLimit: { key, ...(onExceed && { onExceed }) } });
  expect(await notified('u-7')).toMatchObject({ id: expect.stringMatching(/^run_/), isDropped: false });
  expect(await notified('u-7')).toMatchObject({ id: '', isDropped: true });
  expect(await notified('u-8')).toMatchObject({ isDropped: false });
  await expect(notified('u-8', 'refuse')).rejects.toMatchObject({
    name: 'RateLimitError',
    message: expect.stringMatching(
      /the key "u-8" of the task "notify" has been reached\. The next trigger is accepted at 20/,
    ),
  });
  await cli('trigger', 'notify');
  const dropped = await cli('trigger', 'notify');
  expect(dropped).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringMatching(/^Dropped: /) });
}, 30_000);

test.each([
  [{ rate: { limit: 0, period: 60 } }, 'limit must be a whole number from 1 to 1000000; got 0.'],
  [{ rate: { limit: -1, period: 60 } }, 'limit must be a whole number from 1 to 1000000; got -1.'],
  [{ rate: { limit: 2e6, period: 60 } }, 'limit must be a whole number from 1 to 1000000; got 2000000.'],
  [{ rate: { limit: 1, period: '40d' } }, 'from 1 second to 31 days'],
  [{ key: { user: 1 } }, 'options.triggerLimit.key'],
  [{ key: '' }, 'options.triggerLimit.key'],
  [{ onExceed: 'wait' }, 'options.triggerLimit.onExceed'],
] as [object, string][])(
  'a trigger limit of %j is rejected with a message',
  async (triggerLimit, sentence) => {
    await expect(tasks.trigger('notify', {}, { triggerLimit })).rejects.toThrow(sentence);
  },
);

test('keys have their own limits', async () => {
  await queues.overrideRateLimit(
    { type: 'task', name: 'sync' },
    { limit: 1, period: '1h', key: 'concurrencyKey' },
  );
  const ada = await tasks.trigger('sync', { customer: 'ada' }, { concurrencyKey: 'ada' });
  const blocked = await tasks.trigger('sync', { customer: 'ada' }, { concurrencyKey: 'ada' });
  const eve = await tasks.trigger('sync', { customer: 'eve' }, { concurrencyKey: 'eve' });
  await runs.poll(ada, { pollIntervalMs: 50 });
  await runs.poll(eve, { pollIntervalMs: 50 });
  const { keys = [] } = await queues.retrieve({ type: 'task', name: 'sync' }, { keys: 5 });
  expect(keys).toEqual([
    { key: 'ada', running: 0, queued: 1, available: 0, nextStartAt: expect.any(Date) as Date, weight: 1 },
  ]);
  await runs.cancel(blocked);
});

test('the API names the invalid field of a limit', async () => {
  const post = async (path: string, body: unknown) => {
    const response = await fetch(`${ready().url}/api/v1/queues/send-mail/rate-limit/${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${ready().environments.dev.secretKey}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    });
    return [response.status, await response.text()];
  };
  const fine = { limit: 5, period: 60 };
  for (const [rateLimit, sentence] of [
    [{ ...fine, limit: 0 }, 'must be a whole number from 1 to 1000000'],
    [{ ...fine, limit: -1 }, 'must be a whole number from 1 to 1000000'],
    [{ ...fine, limit: 1e30 }, 'must be a whole number from 1 to 1000000'],
    [{ ...fine, limit: '5' }, 'must be a whole number from 1 to 1000000'],
    [{ ...fine, limit: 1.5 }, 'must be a whole number from 1 to 1000000'],
    [{ ...fine, period: 0 }, 'must be whole seconds from 1 to 2678400 (31 days)'],
    [{ ...fine, period: '1m' }, 'must be whole seconds from 1 to 2678400 (31 days)'],
    [{ limit: 5 }, 'must be whole seconds from 1 to 2678400 (31 days)'],
    [{ ...fine, burst: 6 }, 'must not be larger than limit'],
    [{ ...fine, key: { of: 'customer' } }, 'must be \\"concurrencyKey\\", or omitted'],
  ])
    expect(await post('override', { type: 'task', rateLimit })).toEqual([
      400,
      expect.stringContaining(sentence as string),
    ]);
  expect((await post('override', { type: 'task' }))[0]).toBe(400);
  expect((await post('override', { type: 'custom', rateLimit: fine }))[0]).toBe(404);
  expect((await post('reset', { type: 'custom' }))[0]).toBe(404);
});
