import { expect, test } from 'vitest';
import { testEngine } from '../runs/testing/engine.ts';
import { runnerNamePruner } from './prune-names.ts';

const dayMs = 86_400_000;

test('a runner name is deleted once all runs are newer, but never while the runner is connected', async () => {
  const t = await testEngine();
  const env = t.environment.id;
  const at = (days: number) => new Date(t.engine.clock.now() + days * dayMs);
  const name = (id: string, days: number) => t.sql`
    insert into runner_names (env, runner_id, host, pid, last_seen_at) values (${env}, ${id}, 'host', 1, ${at(days)})`;
  await t.register('work');
  await name('gone before', -10);
  await name('gone after', 3);
  await name('connected', -10);
  await t.addRunner('connected');
  await t.sql`update runners set no = (select no from runner_names where runner_id = 'connected') where id = 'connected'`;
  await t.trigger('work');
  const tick = runnerNamePruner(t.engine);
  const names = async () =>
    (await t.sql<{ runner_id: string }[]>`select runner_id from runner_names order by 1`).map(
      (row) => row.runner_id,
    );

  await tick.tick();
  expect(await names()).toEqual(['connected', 'gone after']);
  // The run still exists, regardless of its age.
  t.engine.clock.shift(30 * dayMs);
  await tick.tick();
  expect(await names()).toEqual(['connected', 'gone after']);
  await t.sql`delete from runs`;
  await tick.tick();
  expect(await names()).toEqual(['connected']);
});
