import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { cancelRun } from '../../runs/cancel/cancel.ts';
import { testEngine } from '../../runs/testing/engine.ts';
import { boundOf, bucketOf, maxBucket, minBucket, Times } from './buckets.ts';
import { statsFlusher } from './flush.ts';
import { statsPruner } from './prune.ts';
import { readStatsRange } from './range.ts';
import {
  failuresOf,
  findSeries,
  maxVersionTaskRollUps,
  readSeries,
  readVersionTasks,
  totalOf,
} from './read.ts';
import { seriesName } from './series.ts';
import { createRunStats } from './record.ts';

const hourMs = 3_600_000;

const totals = async (t: Awaited<ReturnType<typeof testEngine>>, series: string) => {
  const range = readStatsRange({ period: hourMs }, t.engine.clock.now());
  const found = await readSeries(t.sql, t.environment.id, [series], range);
  return totalOf(found.get(series) ?? []);
};

test('run events are counted on every path', async () => {
  const t = await testEngine();
  const env = t.environment.id;
  const flusher = statsFlusher({ ...t.engine });
  const { id, version } = await t.register('send', 'other');
  await t.addRunner('r1');
  for (let index = 0; index < 4; index++) await t.trigger('send', { maxAttempts: 3 });
  await t.trigger('send', { ttl: 1 });
  const canceled = await t.trigger('other');
  await cancelRun(t.engine, t.runners, env, canceled.id);
  const attempts = await t.claim('r1', [id], 4);
  const error = { type: 'BUILT_IN_ERROR', name: 'Error', message: 'no', stackTrace: '' } as const;
  const leased = { queue: 'task/send', version, began: performance.now() - 3_000 };
  const complete = (index: number, outcome: Parameters<typeof t.complete>[0]['outcome']) =>
    t.complete({
      env,
      task: 'send',
      ...(attempts[index] as { run: string; fence: number }),
      ...leased,
      outcome,
    });
  await complete(0, { kind: 'completed', output: null, outputType: 'application/json' });
  await complete(1, { kind: 'failed', status: 'FAILED', error });
  await complete(2, { kind: 'retry', delayMs: 60_000, error });
  await complete(3, { kind: 'released' });
  const maxLastedMs = performance.now() - leased.began;
  await t.sql`update queued set expires_at = now() - interval '1 second' where expires_at is not null`;
  expect(await t.expire()).toBe(1);
  await flusher.tick();

  const send = await totals(t, seriesName.task('send'));
  expect(send).toMatchObject({
    triggered: 5,
    completed: 1,
    failed: 1,
    retried: 1,
    expired: 1,
    canceled: 0,
    crashed: 0,
  });
  expect(failuresOf(send)).toBe(1);
  expect(send.lasted.count).toBe(3);
  const [median] = send.lasted.quantiles([0.5]);
  expect(median).toBeGreaterThan(2_700);
  expect(median).toBeLessThan(1.1 * maxLastedMs);
  expect(await totals(t, seriesName.task('other'))).toMatchObject({ triggered: 1, canceled: 1 });
  expect(await totals(t, seriesName.queue('task/send'))).toMatchObject({
    triggered: 5,
    completed: 1,
    expired: 1,
  });
  expect(await totals(t, seriesName.version(version))).toMatchObject({
    triggered: 0,
    completed: 1,
    failed: 1,
  });
  const onVersion = await readVersionTasks(t.sql, env, version, ['send', 'other', 'none']);
  expect([...onVersion.keys()]).toEqual(['send']);
  expect(onVersion.get('send')).toMatchObject({ completed: 1, failed: 1, retried: 1 });
  expect(onVersion.get('send')?.lasted.count).toBe(3);
  const all = await totals(t, seriesName.all);
  expect(all).toMatchObject({ triggered: 6, completed: 1, failed: 1, expired: 1, canceled: 1 });
  const range = readStatsRange({ period: hourMs }, t.engine.clock.now());
  const tasks = (limit: number, sort: 'runs' | 'success') =>
    findSeries(t.sql, env, 'task', range, { limit, sort });
  expect(await tasks(5, 'runs')).toEqual(['send', 'other']);
  expect(await tasks(1, 'runs')).toEqual(['send']);
  // No run of the other task ended with success or failure.
  expect(await tasks(5, 'success')).toEqual(['send', 'other']);
});

test('a task on a version is counted in six-hour roll-ups only, and its total reads the last ones', async () => {
  const t = await testEngine();
  const { stats, clock } = t.engine;
  const env = t.environment.id;
  const flusher = statsFlusher({ ...t.engine });
  const subject = { env, task: 'send mail', version: '20261121.3' };
  const older = 3;
  for (let n = 0; n < maxVersionTaskRollUps + older; n++)
    stats.count(subject, 'completed', clock.now() - n * 6 * hourMs);
  stats.count({ ...subject, version: '20261121.30' }, 'failed', clock.now());
  await flusher.tick();
  expect(
    await t.sql`select distinct width from run_stats where series = ${seriesName.versionTask('20261121.3', 'send mail')}`,
  ).toEqual([{ width: 360 }]);
  const total = await readVersionTasks(t.sql, env, '20261121.3', ['send mail']);
  expect(total.get('send mail')).toMatchObject({ completed: maxVersionTaskRollUps, failed: 0 });
  expect(await readVersionTasks(t.sql, env + 1, '20261121.3', ['send mail'])).toEqual(new Map());
});

test('a batch and a rolled-back transaction count only committed runs', async () => {
  const t = await testEngine();
  await t.register('send');
  const flusher = statsFlusher({ ...t.engine });
  const { insertRuns } = await import('../../runs/create/insert.ts');
  const { prepareRun } = await import('../../runs/create/prepare.ts');
  const run = async () => prepareRun(t.engine, t.environment, 'send', {});
  await t.sql.begin(async (tx) => insertRuns({ sql: tx, clock: t.engine.clock }, [await run(), await run()]));
  await t.sql
    .begin(async (tx) => {
      await insertRuns({ sql: tx, clock: t.engine.clock }, [await run()]);
      throw new Error('back');
    })
    .catch(() => {});
  await flusher.tick();
  expect(await totals(t, seriesName.all)).toMatchObject({ triggered: 2 });
});

test('minutes are updated immediately, hours and days every ten seconds, and all of them when the server stops', async () => {
  const t = await testEngine();
  const { stats, clock } = t.engine;
  const flusher = statsFlusher({ ...t.engine });
  const subject = { env: t.environment.id, task: 'send' };
  const counts = async () =>
    (
      await t.sql<{ completed: number }[]>`
        select completed from run_stats where series = 'a' and width in (1, 60, 1440) order by width`
    ).map(({ completed }) => completed);
  const at = clock.now();
  const act = async (): Promise<number[]> => {
    stats.count(subject, 'completed', at);
    stats.ended(subject, 10, at);
    await flusher.tick();
    return counts();
  };
  expect(await act()).toEqual([1, 1, 1]);
  clock.shift(6_000);
  expect(await act()).toEqual([2, 1, 1]);
  clock.shift(6_000);
  expect(await act()).toEqual([3, 3, 3]);
  clock.shift(6_000);
  expect(await act()).toEqual([4, 3, 3]);
  await flusher.stop?.();
  expect(await counts()).toEqual([4, 4, 4]);
  expect(await t.sql`select distinct lasted from run_stats where series = 'a'`).toEqual([{ lasted: [4] }]);
});

test('a flush whose response is lost adds nothing when it is repeated, and newer counts are added', async () => {
  const t = await testEngine();
  const stats = createRunStats();
  const subject = { env: t.environment.id, task: 'send', queue: 'mail' };
  let isLost = true;
  const lossy = Object.assign(async (strings: TemplateStringsArray, ...values: unknown[]) => {
    const answer = await t.sql(strings, ...values);
    if (isLost && strings[0]?.includes('add_run_stats')) throw new Error('lost');
    return answer;
  }, t.sql);
  const flusher = statsFlusher({ sql: lossy, clock: t.engine.clock, stats });
  stats.count(subject, 'completed', t.engine.clock.now());
  await expect(flusher.tick()).rejects.toThrow('lost');
  stats.count(subject, 'completed', t.engine.clock.now(), 2);
  await expect(flusher.tick()).rejects.toThrow('lost');
  isLost = false;
  await flusher.tick();
  expect(await totals(t, seriesName.queue('mail'))).toMatchObject({ completed: 3 });
});

test('names with any characters are counted, and those that cannot be stored do not block others', async () => {
  const t = await testEngine();
  const stats = createRunStats();
  const flusher = statsFlusher({ sql: t.sql, clock: t.engine.clock, stats });
  const at = t.engine.clock.now();
  const env = t.environment.id;
  for (const task of ['a\0b', 'half \ud800', '{"x": ",\\"}', '日本'])
    stats.count({ env, task }, 'completed', at);
  await flusher.tick();
  const names = await t.sql<{ series: string }[]>`select distinct series from run_stats order by series`;
  expect(names.map(({ series }) => series).toSorted()).toEqual(
    ['a', 't:ab', 't:half \ufffd', 't:{"x": ",\\"}', 't:日本'].toSorted(),
  );
  stats.count({ env, task: 'a' }, 'completed', at, 3e9);
  t.engine.clock.shift(6_000);
  await expect(flusher.tick()).rejects.toThrow(/integer/);
  await flusher.stop?.();
  stats.count({ env, task: 'a' }, 'completed', at);
  await flusher.stop?.();
  expect(await totals(t, seriesName.task('a'))).toMatchObject({ completed: 1 });
});

test('several processes can add to the same rows at once', async () => {
  const t = await testEngine();
  const at = t.engine.clock.now();
  await Promise.all(
    Array.from({ length: 6 }, async () => {
      const stats = createRunStats();
      const flusher = statsFlusher({ sql: t.sql, clock: t.engine.clock, stats });
      for (let round = 0; round < 10; round++) {
        for (const task of ['b', 'a', 'c']) {
          stats.count({ env: t.environment.id, task }, 'completed', at);
          stats.ended({ env: t.environment.id, task }, 10 ** (round % 4), at);
        }
        await flusher.stop?.();
      }
    }),
  );
  const total = await totals(t, seriesName.all);
  expect(total).toMatchObject({ completed: 180 });
  expect(total.lasted.count).toBe(180);
  expect(total.lasted.sum).toBe(18 * (3 * 1 + 3 * 10 + 2 * 100 + 2 * 1_000));
});

test('a flush with a given process and number is applied once', async () => {
  const t = await testEngine();
  const row = {
    env: t.environment.id,
    series: 'a',
    triggered: 1,
    waited: [],
    lasted: [],
    waited_ms: 0,
    lasted_ms: 0,
  };
  const rows = [
    'completed',
    'failed',
    'crashed',
    'system_failure',
    'timed_out',
    'canceled',
    'expired',
    'retried',
    'new_errors',
    'regressed_errors',
  ];
  const json = JSON.stringify([{ ...row, ...Object.fromEntries(rows.map((name) => [name, 0])) }]);
  const process = randomUUID();
  const add = async (flush: number) =>
    (
      await t.sql<
        { added: boolean }[]
      >`select add_run_stats(${process}, ${flush}, now(), '{1,60,1440}', ${json}::text::jsonb) as added`
    )[0]?.added;
  expect([await add(1), await add(1), await add(2), await add(1)]).toEqual([true, false, true, false]);
  expect(await t.sql`select width, triggered from run_stats order by width`).toEqual([
    { width: 1, triggered: 2 },
    { width: 60, triggered: 2 },
    { width: 1_440, triggered: 2 },
  ]);
});

test('roll-ups are deleted by age', async () => {
  const t = await testEngine();
  const flusher = statsFlusher({ ...t.engine });
  const now = t.engine.clock.now();
  for (const days of [0, 1, 3, 100, 800])
    t.engine.stats.count({ env: t.environment.id, task: 'send' }, 'completed', now - days * 24 * hourMs);
  await flusher.tick();
  await statsPruner(t.engine).tick();
  expect(
    await t.sql`select width, count(*)::int as n from run_stats where series = 'a' group by width order by width`,
  ).toEqual([
    { width: 1, n: 2 },
    { width: 5, n: 2 },
    { width: 60, n: 3 },
    { width: 360, n: 3 },
    { width: 1_440, n: 4 },
  ]);
});

test('a bucket contains durations up to 9% below its bound, and quantiles are equally accurate', () => {
  expect([bucketOf(0), bucketOf(1), bucketOf(1e15)]).toEqual([minBucket, minBucket, maxBucket]);
  for (let ms = 2; ms < 1e8; ms *= 1.07) {
    const bound = boundOf(bucketOf(ms)) * 1_000;
    expect(bound).toBeGreaterThanOrEqual(ms * 0.999_999);
    expect(bound / ms).toBeLessThan(1.092);
  }
  const [times, other] = [new Times(), new Times()];
  for (let ms = 1; ms <= 5_000; ms++) (ms % 2 ? times : other).observe(ms);
  times.add(other);
  expect(times).toMatchObject({ count: 5_000, sum: (5_000 * 5_001) / 2 });
  const shares = [0.01, 0.5, 0.95, 0.99];
  for (const [index, found] of times.quantiles(shares).entries())
    expect(Math.abs((found ?? 0) / (5_000 * (shares[index] ?? 0)) - 1)).toBeLessThan(0.05);
  expect(new Times().quantiles([0.5])).toEqual([undefined]);
});

test('a range that is too wide or a step that is too fine is rejected with an alternative', () => {
  const now = Date.parse('2026-11-23T12:34:56Z');
  const dayMs = 24 * hourMs;
  const read = (requested: Parameters<typeof readStatsRange>[0], series?: number) =>
    readStatsRange(requested, now, series);
  for (const [requested, sentence] of [
    [
      { period: dayMs, step: 60_000 },
      /^step: the range has 144\d points in 1 series, and at most 1000 are allowed. Use step=5m or/,
    ],
    [{ period: 80 * dayMs, step: hourMs }, /^step: the range has 19\d\d points.*Use step=6h or/],
    [
      { period: 30 * dayMs, step: 300_000 },
      /^step: steps below an hour can be read for 2 days. Use step=1h or/,
    ],
    [
      { period: 400 * dayMs, step: hourMs },
      /^step: steps below a day can be read for 90 days. Use step=1d or/,
    ],
    [{ period: 1_000 * dayMs }, /^The range is too wide/],
    [{ from: new Date(now + 1_000) }, /^from: must be before/],
    [{ period: hourMs, step: 30_000 }, /^step: must be whole minutes/],
    [{ period: hourMs, step: 0 }, /^step: must be whole minutes/],
  ] as const)
    expect(() => read(requested)).toThrow(sentence);
  expect(() => read({ period: dayMs, step: 300_000 }, 10)).toThrow(
    /28[89]0 points in 10 series.*Use step=1h or/,
  );
  expect(() => read({ period: 700 * dayMs }, 10)).toThrow(/too wide for 10 series: use a smaller `limit`/);
  expect(() => read({ period: 700 * dayMs, step: 7 * dayMs }, 10)).toThrow(/too wide for 10 series/);
  expect(read({ period: 700 * dayMs }, 2).stepMs).toBe(7 * dayMs);
  for (const [period, minutes] of [
    [hourMs, 1],
    [dayMs, 15],
    [7 * dayMs, 60],
    [90 * dayMs, 720],
    [700 * dayMs, 10_080],
  ] as const)
    expect([period, read({ period }).stepMs]).toEqual([period, minutes * 60_000]);
  expect(read({ period: dayMs }, 10).stepMs).toBe(hourMs);
  expect(read({ period: hourMs })).toMatchObject({ to: new Date('2026-11-23T12:35:00Z'), widthMinutes: 1 });
});
