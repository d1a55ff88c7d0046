import { expect, test } from 'vitest';
import { runPruner } from './prune.ts';
import { testEngine, type TestEngine } from '../testing/engine.ts';

const dayMs = 86_400_000;

async function prune(t: TestEngine): Promise<void> {
  const job = runPruner(t.engine, 30 * dayMs);
  while (await job.tick());
}

const remaining = async (t: TestEngine) =>
  (await t.sql<{ id: string }[]>`select id from runs order by id`).map((run) => run.id);

test('runs are deleted when the retention of their environment has passed', async () => {
  const t = await testEngine();
  const { id: version } = await t.register('send');
  await t.addRunner('r');
  const done = await t.trigger('send', { tags: ['old'], idempotencyKey: 'k', idempotencyKeyTTL: '52w' });
  const [attempt] = await t.claim('r', [version], 1);
  await t.sql`
    insert into run_logs (env, run_id, attempt, at, level, message) values (${t.environment.id}, ${done.id}, 1, now(), 'info', 'x')`;
  const delayed = await t.trigger('send', { delay: '52w', tags: ['old'] });
  const waiting = await t.trigger('send');
  await t.end(attempt!);
  t.engine.clock.shift(29 * dayMs);
  await prune(t);
  expect(await remaining(t)).toContain(done.id);
  // A run triggered long ago that has only just ended is retained from its end.
  const [late] = await t.claim('r', [version], 1);
  await t.end(late!);
  expect(late!.run).toBe(waiting.id);
  t.engine.clock.shift(2 * dayMs);
  const young = await t.trigger('send', { tags: ['young'] });
  await prune(t);
  expect(await remaining(t)).toEqual([delayed.id, waiting.id, young.id].toSorted());
  expect(await t.sql`select from run_logs`).toHaveLength(0);
  // The key creates a new run, because the old one could no longer be retrieved.
  expect(await t.trigger('send', { idempotencyKey: 'k' })).toMatchObject({ isCached: false });
});

test('a debounced run is deleted with all its keys', async () => {
  const t = await testEngine();
  const { id: version } = await t.register('send');
  await t.addRunner('r');
  const debounce = { key: 'd', delay: '10s' };
  const { id } = await t.trigger('send', { debounce });
  const keyed = { idempotencyKey: 'k', idempotencyKeyTTL: '52w' };
  expect(await t.trigger('send', { debounce, ...keyed })).toEqual({ id, isCached: false });
  t.engine.clock.shift(10_001);
  await t.promote();
  const [attempt] = await t.claim('r', [version], 1);
  await t.end(attempt!);
  const other = await t.trigger('send', { idempotencyKey: 'other', idempotencyKeyTTL: '52w', delay: '52w' });
  t.engine.clock.shift(31 * dayMs);
  await prune(t);
  expect(await remaining(t)).toEqual([other.id]);
  expect(await t.trigger('send', keyed)).toMatchObject({ isCached: false });
  expect(await t.trigger('send', { idempotencyKey: 'other' })).toEqual({ id: other.id, isCached: true });
});

test('an environment can have its own run retention', async () => {
  const t = await testEngine();
  const { id: version } = await t.register('send');
  await t.addRunner('r');
  await t.sql`update environments set run_retention_days = 2`;
  await t.trigger('send');
  const [attempt] = await t.claim('r', [version], 1);
  await t.end(attempt!);
  t.engine.clock.shift(3 * dayMs);
  await prune(t);
  expect(await remaining(t)).toEqual([]);
});

test('pruning handles any number of runs and leaves no index rows behind', async () => {
  const t = await testEngine();
  const { id: version } = await t.register('send');
  await t.addRunner('r');
  await t.trigger('send', { tags: ['a'] });
  const [attempt] = await t.claim('r', [version], 1);
  await t.end(attempt!);
  const stuck = await t.trigger('send', { delay: '52w' });
  await t.sql`
    insert into runs (env, id, task, queue_id, sort_key, created_at, status, finished_at)
    select env, left(id, 9) || lpad(to_hex(n), 15, '0'), task, queue_id, sort_key, created_at, status, finished_at
      from runs, generate_series(1, 2500) n where status is not null`;
  await t.sql`insert into run_facets select env, 'tag:' || n, left(id, 10) from runs, generate_series(1, 1200) n where id = ${attempt!.run}`;
  t.engine.clock.shift(40 * dayMs);
  const young = await t.trigger('send');
  await prune(t);
  expect(await remaining(t)).toEqual([stuck.id, young.id]);
  await t.sql`delete from runs where id = ${stuck.id}`;
  // Facets are pruned in parts, one part in each round.
  for (let n = 0; n < 4; n++) await prune(t);
  expect(await t.sql`select facet, span from run_facets`).toEqual([
    { facet: 'own_queue_task:send', span: young.id.slice(0, 10) },
  ]);
});
