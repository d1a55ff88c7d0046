import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { changeConcurrency } from '../../queues/concurrency.ts';
import { changeQueue } from '../../queues/change.ts';
import { cancelRun } from '../cancel/cancel.ts';
import { testEngine, type TestEngine } from '../testing/engine.ts';
import { createBeginWaits } from '../waits/begin.ts';
import { readStartConditions } from './start-conditions.ts';
import { nearestTask } from './nearest-task.ts';
import { reasonOf } from './reason.ts';
import { cpuTimeOf } from '../../../../../test/support/cpu-time.ts';
import { numRuns } from '../../../../../test/support/long.ts';

const failure = { type: 'BUILT_IN_ERROR', name: 'Error', message: 'no', stackTrace: '' } as const;

async function why(t: TestEngine, run: string) {
  const conditions = await readStartConditions(t.sql, t.environment.id, run, new Date(t.engine.clock.now()));
  return conditions && reasonOf(conditions);
}

/** Registers a runner as its connection would. */
async function connectRunner(t: TestEngine, id: string, versions: readonly number[]): Promise<void> {
  await t.addRunner(id);
  await t.sql`update runners set versions = ${versions}::int[] where id = ${id}`;
}

const sends = { id: 'send', queue: { name: 'mail', concurrencyLimit: 1 } };
const mail = { type: 'custom', queue: 'mail' } as const;

describe('why a run is not running', () => {
  test('its delay', async () => {
    const t = await testEngine();
    await t.register('send');
    const { id } = await t.trigger('send', { delay: '1h' });
    const until = (await t.sql<{ due: Date }[]>`select due from delayed`)[0]!.due.toISOString();
    expect(await why(t, id)).toMatchObject({
      reason: 'delay',
      until,
      message: expect.stringContaining(until),
    });
  });

  test('the delay before its next attempt', async () => {
    const t = await testEngine();
    const { id: version } = await t.register('send');
    const { id } = await t.trigger('send');
    await connectRunner(t, 'r', [version]);
    const [attempt] = await t.claim('r', [version], 1);
    await t.end(attempt!, { kind: 'retry', delayMs: 60_000, error: failure });
    expect(await why(t, id)).toMatchObject({ reason: 'retry_pause', until: expect.any(String) });
  });

  for (const [name, wait, expected] of [
    [
      'a run',
      { kind: 'RUN', target: 'child' },
      { reason: 'waiting_on_run', message: /^It is waiting for the run / },
    ],
    [
      'a token',
      { kind: 'TOKEN', target: 'token' },
      { reason: 'waiting_on_token', message: /is waiting for the token / },
    ],
    [
      'a time',
      { kind: 'TIME', until: Date.parse('2999-01-01') },
      { reason: 'waiting_on_time', message: /2999-01-01T/ },
    ],
    [
      'a message',
      { kind: 'MESSAGE', target: 'talk', beyond: -1 },
      { reason: 'waiting_on_message', message: /a message to the session talk/ },
    ],
    [
      'a batch',
      { kind: 'BATCH', target: 'batch' },
      { reason: 'waiting_on_batch', message: /all runs of the batch / },
    ],
  ] as const) {
    test(`its wait for ${name}, within its code`, async () => {
      const t = await testEngine();
      const { id: version } = await t.register('parent', 'child');
      const { id } = await t.trigger('parent');
      await connectRunner(t, 'r', [version]);
      const [attempt] = await t.claim('r', [version], 1);
      const child = await t.trigger('child');
      const env = t.environment.id;
      const now = new Date(t.engine.clock.now());
      await t.sql`insert into waitpoints (env, id, created_at) values (${env}, 'token', ${now})`;
      await t.sql`
        insert into batches (env, id, run_count, received, created_at, sealed_at) values (${env}, 'batch', 1, 1, ${now}, ${now})`;
      await t.sql`insert into batch_cached (env, item_id, run_id) values (${env}, batch_prefix('batch') || '000', ${child.id})`;
      const target = 'target' in wait ? (wait.target === 'child' ? child.id : wait.target) : undefined;
      const begin = createBeginWaits(t.engine, t.sql, t.dispatch, () => {});
      const waits = [{ key: 'one', ...wait, ...(target !== undefined && { target }) }];
      expect(await begin({ env, run: id, fence: attempt!.fence, waits })).toMatchObject({
        state: 'suspended',
      });
      expect(await why(t, id)).toMatchObject({
        reason: expected.reason,
        message: expect.stringMatching(expected.message),
        ...(target === undefined ? { until: '2999-01-01T00:00:00.000Z' } : { waitsFor: target }),
      });
    });
  }

  test('no version, or none with its task', async () => {
    const t = await testEngine();
    const { id } = await t.trigger('send');
    expect(await why(t, id)).toMatchObject({
      reason: 'no_version',
      message: expect.stringMatching(/^No version/),
    });
    const { version } = await t.register('other');
    expect((await why(t, id))?.message).toContain(`${version} has no task "send"`);
  });

  test('no version, with the nearest task name', async () => {
    const t = await testEngine();
    await t.register('other');
    const { id } = await t.trigger('otehr');
    const conditions = await readStartConditions(t.sql, t.environment.id, id, new Date(t.engine.clock.now()));
    expect(conditions && reasonOf(conditions, 'other')).toMatchObject({
      reason: 'no_version',
      nearestTask: 'other',
      message: expect.stringMatching(/has no task "otehr": .* Did you mean "other"\?$/),
    });
  });

  test.each([
    ['helo', 'hello'],
    ['Send-Mail', 'send-mail'],
    ['nope', undefined],
    ['x', undefined],
    ['sendmail', 'send-mail'],
  ])('among the ids of a version, the nearest to %j is %j', (task, nearest) => {
    expect(nearestTask(task, ['hello', 'send-mail', 'resize-image'])).toBe(nearest);
  });

  test('the nearest id is found quickly among many long ones', () => {
    const known = Array.from({ length: 10_000 }, (_, i) => `${'a'.repeat(60)}${i}${'b'.repeat(60)}`);
    expect(cpuTimeOf(() => nearestTask('c'.repeat(128), known))).toBeLessThan(1_000);
  });

  test('no runner for the current version, or for the version it is bound to', async () => {
    const t = await testEngine();
    const old = await t.register('send');
    const locked = await t.trigger('send', { lockToVersion: old.version });
    const current = await t.register('send', 'other');
    const free = await t.trigger('send');
    expect(await why(t, free.id)).toMatchObject({ reason: 'no_runner', version: current.version });
    await connectRunner(t, 'new', [current.id]);
    expect(await why(t, free.id)).toMatchObject({ reason: 'waiting_its_turn' });
    expect(await why(t, locked.id)).toMatchObject({ reason: 'no_runner', version: old.version });
    // A runner that has been silent for longer than its lease is considered lost.
    t.engine.clock.shift(31_000);
    expect(await why(t, free.id)).toMatchObject({ reason: 'no_runner' });
  });

  test('a paused environment, a paused queue', async () => {
    const t = await testEngine();
    const { id: version } = await t.register(sends);
    await connectRunner(t, 'r', [version]);
    const { id } = await t.trigger('send');
    await changeQueue(t.sql, t.environment.id, mail, { paused: true });
    expect(await why(t, id)).toMatchObject({ reason: 'queue_paused', queue: 'mail' });
    await changeConcurrency(t.sql, t.environment.id, { paused: true });
    expect(await why(t, id)).toMatchObject({ reason: 'environment_paused' });
  });

  test('its queue, its key or the environment is at its limit', async () => {
    const t = await testEngine();
    const { id: version } = await t.register(sends, 'other');
    await connectRunner(t, 'r', [version]);
    await t.trigger('send');
    await t.trigger('send', { concurrencyKey: 'ada' });
    expect(await t.claim('r', [version], 10)).toHaveLength(2);
    const plain = await t.trigger('send');
    const keyed = await t.trigger('send', { concurrencyKey: 'ada' });
    expect(await why(t, plain.id)).toMatchObject({
      reason: 'queue_at_limit',
      queue: 'mail',
      running: 1,
      limit: 1,
    });
    expect(await why(t, keyed.id)).toMatchObject({
      reason: 'key_at_limit',
      concurrencyKey: 'ada',
      running: 1,
      limit: 1,
    });
    await changeConcurrency(t.sql, t.environment.id, { concurrencyLimit: 2 });
    const other = await t.trigger('other');
    expect(await why(t, other.id)).toMatchObject({ reason: 'environment_at_limit', running: 2, limit: 2 });
  });

  test('a rate limit, with the time when it allows the run', async () => {
    const t = await testEngine();
    const rate = { limit: 2, period: 3_600 };
    const { id: version } = await t.register(
      { id: 'send', queue: { name: 'mail', rateLimit: rate } },
      { id: 'each', queue: { name: 'each', rateLimit: { ...rate, burst: 1, key: 'concurrencyKey' } } },
    );
    await connectRunner(t, 'r', [version]);
    const before = t.engine.clock.now();
    const [, , third, fourth] = [
      await t.trigger('send'),
      await t.trigger('send'),
      await t.trigger('send'),
      await t.trigger('send'),
      await t.trigger('send'),
    ];
    const fifth = await t.trigger('send');
    await t.trigger('each', { concurrencyKey: 'ada' });
    const ada = await t.trigger('each', { concurrencyKey: 'ada' });
    const eve = await t.trigger('each', { concurrencyKey: 'eve' });
    expect(await why(t, third.id)).toMatchObject({ reason: 'waiting_its_turn', ahead: 2 });
    expect(await t.claim('r', [version], 10)).toHaveLength(4);
    const reply = await why(t, third.id);
    expect(reply).toMatchObject({ reason: 'rate_limited', queue: 'mail', limit: 2, ahead: 0 });
    expect(reply!.message).toMatch(
      /^The queue "mail" may start 2 runs in 3600 seconds\. This run may start at .*Z, unless runs with other keys start before it\.$/,
    );
    const hours = (until?: string): number => Math.floor((Date.parse(until ?? '') - before) / 3_600_000);
    expect(hours(reply!.until)).toBe(1);
    expect(hours((await why(t, fourth.id))!.until)).toBe(1);
    expect(hours((await why(t, fifth.id))!.until)).toBe(2);
    const keyed = await why(t, ada.id);
    expect(keyed!.message).toMatch(
      /^The queue "each" may start 2 runs in 3600 seconds, at most 1 at once with the key "ada"\. This run may start at [^,]*\.$/,
    );
    expect(Math.round((Date.parse(keyed!.until!) - before) / 60_000)).toBe(30);
    expect(await why(t, eve.id)).toMatchObject({ reason: 'not_waiting' });
  });

  test('other runs ahead of it, or none', async () => {
    const t = await testEngine();
    const { id: version } = await t.register('send');
    await connectRunner(t, 'r', [version]);
    const first = await t.trigger('send');
    t.engine.clock.shift(5);
    const second = await t.trigger('send');
    expect(await why(t, first.id)).toMatchObject({ reason: 'waiting_its_turn', ahead: 0 });
    expect(await why(t, second.id)).toMatchObject({ reason: 'waiting_its_turn', ahead: 1 });
  });

  test('no reason for a run that is executing or has ended', async () => {
    const t = await testEngine();
    const { id: version } = await t.register('send');
    await connectRunner(t, 'r', [version]);
    const { id } = await t.trigger('send');
    const [attempt] = await t.claim('r', [version], 1);
    expect(await why(t, id)).toEqual({ reason: 'not_waiting', message: 'It is running.' });
    await t.end(attempt!);
    expect(await why(t, id)).toEqual({ reason: 'not_waiting', message: 'It has ended: COMPLETED.' });
    expect(await why(t, 'run_unknown')).toBeUndefined();
  });
});

test('removing the reported reasons one by one eventually starts any run', async () => {
  const causes = fc.record({
    delay: fc.boolean(),
    unknown: fc.boolean(),
    locked: fc.boolean(),
    queuePaused: fc.boolean(),
    environmentPaused: fc.boolean(),
    limit: fc.constantFrom(null, 0, 1),
    environmentLimit: fc.constantFrom(null, 0, 1),
    key: fc.constantFrom('', 'ada'),
    connected: fc.boolean(),
    ahead: fc.nat(2),
    busy: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(causes, async (cause) => {
      const t = await testEngine();
      const env = t.environment.id;
      const old = await t.register('send', 'other');
      let version = await t.register('other', ...(cause.unknown ? [] : ['send']));
      const options = {
        queue: { name: 'mail' },
        ...(cause.key !== '' && { concurrencyKey: cause.key }),
        ...(cause.locked && { lockToVersion: old.version }),
      };
      const versions = () => [old.id, version.id];
      const busy = cause.busy
        ? [await t.trigger('other', { queue: { name: 'mail' }, concurrencyKey: cause.key })]
        : [];
      await t.addRunner('busy');
      const live = cause.busy ? await t.claim('busy', versions(), 1) : [];
      expect(live.map((attempt) => attempt.run)).toEqual(busy.map((run) => run.id));
      for (let n = 0; n < cause.ahead; n++) await t.trigger('send', { ...options, priority: 10_000 });
      const { id } = await t.trigger('send', { ...options, ...(cause.delay && { delay: '1d' }) });
      if (cause.connected) await connectRunner(t, 'r', [version.id]);
      if (cause.queuePaused) await changeQueue(t.sql, env, mail, { paused: true });
      if (cause.limit !== null) {
        await changeQueue(t.sql, env, mail, { override: cause.limit, at: new Date() });
      }
      await changeConcurrency(t.sql, env, {
        paused: cause.environmentPaused,
        concurrencyLimit: cause.environmentLimit,
      });
      const reasons: string[] = [];
      for (;;) {
        const [runner] = await t.sql<{ versions: number[] }[]>`select versions from runners where id = 'r'`;
        const claimed = runner ? await t.claim('r', runner.versions, 1) : [];
        if (claimed.some((attempt) => attempt.run === id)) break;
        for (const attempt of claimed) await t.end(attempt);
        const known = await why(t, id);
        reasons.push(known!.reason);
        if (reasons.length > 20) throw new Error(`It does not start: ${reasons.join(', ')}`);
        switch (known?.reason) {
          case 'delay':
            t.engine.clock.shift(86_400_000);
            await t.promote();
            await t.sql`update runners set expires_at = ${new Date(t.engine.clock.now() + 30_000)}`;
            break;
          case 'no_version':
            version = await t.register('send', 'other');
            await t.sql`update runners set versions = ${versions()}::int[] where id = 'r'`;
            break;
          case 'environment_paused':
            await changeConcurrency(t.sql, env, { paused: false });
            break;
          case 'queue_paused':
            await changeQueue(t.sql, env, mail, { paused: false });
            break;
          case 'no_runner':
            await t.sql`delete from runners where id = 'r'`;
            await connectRunner(t, 'r', versions());
            break;
          case 'environment_at_limit':
            await changeConcurrency(t.sql, env, { concurrencyLimit: known.limit! + 1 });
            break;
          case 'queue_at_limit':
          case 'key_at_limit':
            await changeQueue(t.sql, env, mail, { override: known.limit! + 1, at: new Date() });
            break;
          case 'waiting_its_turn':
            // Only other runs may be ahead of it; they were claimed and ended above, one per round.
            expect(known.ahead).toBeGreaterThanOrEqual(0);
            break;
          default:
            throw new Error(`A waiting run is reported as ${known?.reason}`);
        }
      }
      await t.close();
    }),
    { numRuns: numRuns(25) },
  );
}, 60_000);

test('a canceled run does not wait for anything, whether or not it was blocked', async () => {
  const t = await testEngine();
  const { id } = await t.trigger('send');
  await cancelRun(t.engine, t.runners, t.environment.id, id);
  expect(await why(t, id)).toMatchObject({ reason: 'not_waiting' });
});
