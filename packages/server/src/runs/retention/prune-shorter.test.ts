import type { FinalStatus } from '@millrace/contract';
import { expect, test } from 'vitest';
import { declareRetention } from './declare.ts';
import { runPruner } from './prune.ts';
import { updateRetention } from './retention.ts';
import { testEngine, type TestEngine } from '../testing/engine.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const day = 86_400;

async function prune(t: TestEngine): Promise<void> {
  const job = runPruner(t.engine, 30 * dayMs);
  while (await job.tick());
}

const remaining = async ({ sql }: TestEngine) =>
  (await sql<{ id: string }[]>`select id from runs order by id`).map((run) => run.id);

const task = (id: string, retention?: object) => ({ id, filePath: 'a.ts', ...(retention && { retention }) });

async function start(...tasks: ReturnType<typeof task>[]) {
  const t = await testEngine();
  const env = t.environment.id;
  const { id: version } = await t.register('mail', 'report');
  await t.sql.begin((tx) => declareRetention(tx, env, tasks));
  await t.addRunner('r');
  const claim = async () => (await t.claim('r', [version], 1))[0]!;
  const ended = async (name: string, status: FinalStatus = 'COMPLETED', tag?: string) => {
    const { id } = await t.trigger(name, tag === undefined ? {} : { tags: [tag] });
    await t.end(await claim());
    await t.sql`update runs set status = ${status} where id = ${id}`;
    return id;
  };
  return { t, env, claim, ended };
}

test('a task can shorten or lengthen the retention of its runs, by status', async () => {
  const { t, ended } = await start(task('mail', { completed: day, failed: 90 * day }));
  const [mail, failed, canceled, report] = [
    await ended('mail', 'COMPLETED', 'a'),
    await ended('mail', 'TIMED_OUT', 'b'),
    await ended('mail', 'EXPIRED'),
    await ended('report'),
  ];
  await prune(t);
  t.engine.clock.shift(dayMs + 1_000);
  await prune(t);
  expect(await remaining(t)).toEqual([failed, canceled, report].toSorted());
  expect(await t.sql`select from run_facets where facet = 'tag:a'`).toHaveLength(0);
  t.engine.clock.shift(30 * dayMs);
  await prune(t);
  expect(await remaining(t)).toEqual([failed]);
  t.engine.clock.shift(60 * dayMs);
  await prune(t);
  expect(await remaining(t)).toEqual([]);
  expect(mail).toBeDefined();
});

test('an environment can set the retention of each class of status, and a task overrides it', async () => {
  const { t, env, ended } = await start(task('mail', { failed: 10 * day }));
  const environment = { id: env, publicId: t.environment.publicId };
  const record = async (): Promise<void> => {};
  expect(await updateRetention(t.sql, environment, { runsDays: 20, failedDays: 5 }, record)).toEqual({
    runsDays: 20,
    completedDays: null,
    failedDays: 5,
    canceledDays: null,
  });
  expect(await updateRetention(t.sql, environment, { canceledDays: 2 }, record)).toMatchObject({
    runsDays: 20,
    canceledDays: 2,
  });
  const [completed, failed, canceled, mail] = [
    await ended('report'),
    await ended('report', 'CRASHED'),
    await ended('report', 'CANCELED'),
    await ended('mail', 'FAILED'),
  ];
  const after = async (days: number) => {
    t.engine.clock.shift(days * dayMs);
    await prune(t);
    return remaining(t);
  };
  expect(await after(3)).toEqual([completed, failed, mail].toSorted());
  expect(canceled).toBeDefined();
  expect(await after(3)).toEqual([completed, mail].toSorted());
  expect(await after(5)).toEqual([completed]);
  expect(await after(10)).toEqual([]);
});

test('a run that ends long after its creation is retained from its end', async () => {
  const { t, claim } = await start(task('mail', { completed: day }));
  const { id } = await t.trigger('mail');
  const attempt = await claim();
  for (let days = 0; days < 5; days++) {
    t.engine.clock.shift(dayMs + hourMs);
    await prune(t);
  }
  expect(await t.sql`select from retention_late`).toHaveLength(1);
  await t.end(attempt);
  t.engine.clock.shift(dayMs - hourMs);
  await prune(t);
  expect(await remaining(t)).toEqual([id]);
  t.engine.clock.shift(2 * hourMs);
  await prune(t);
  expect(await remaining(t)).toEqual([]);
  expect(await t.sql`select from retention_late`).toHaveLength(0);
});

test('a run is read once when it may expire, however many runs stay, and again when a rule is added', async () => {
  const { t, env, ended } = await start(task('mail', { completed: day }));
  const run = await ended('report');
  await t.sql`
    insert into runs (env, id, task, queue_id, sort_key, created_at, status, finished_at)
    select env, left(id, 9) || lpad(to_hex(n), 15, '0'), task, queue_id, sort_key, created_at, status, finished_at
      from runs, generate_series(1, 2500) n where id = ${run}`;
  t.engine.clock.shift(2 * dayMs);
  const job = runPruner(t.engine, 30 * dayMs);
  const ticks = async () => {
    for (let count = 1; ; count++) if (!(await job.tick())) return count;
  };
  expect(await ticks()).toBe(3);
  expect(await remaining(t)).toHaveLength(2501);
  // The cursor is stored, so another process does not start again.
  expect(await ticks()).toBe(1);
  const mail = await ended('mail');
  t.engine.clock.shift(2 * dayMs);
  expect(await ticks()).toBe(1);
  expect(await remaining(t)).not.toContain(mail);
  await t.sql.begin((tx) => declareRetention(tx, env, [task('report', { completed: day })]));
  await ticks();
  expect(await remaining(t)).toEqual([]);
  // Without shorter retentions, no position is stored.
  await t.sql.begin((tx) => declareRetention(tx, env, [task('report'), task('mail')]));
  await ticks();
  expect(await t.sql`select from retention_positions`).toHaveLength(0);
});

test('a task that a version no longer has keeps its retention', async () => {
  const { t, env, ended } = await start(task('mail', { completed: 90 * day }));
  await t.sql.begin((tx) => declareRetention(tx, env, [task('report')]));
  const run = await ended('mail');
  t.engine.clock.shift(60 * dayMs);
  await prune(t);
  expect(await remaining(t)).toEqual([run]);
});
