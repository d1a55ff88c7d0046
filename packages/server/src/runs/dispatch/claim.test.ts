import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { lockWaiters } from '../../../../../test/support/locks.ts';
import { ConnectedRunner } from '../../runners/runners.ts';
import { groupBy } from '../values/group-by.ts';
import { testEngine } from '../testing/engine.ts';
import { claimRuns, firstCursor } from './claim.ts';

test('a run that is committed while a claim waits for its lock reaches the runner', async () => {
  const t = await testEngine();
  const env = t.environment.id;
  const { id } = await t.register('send');
  await t.addRunner('r1');
  const runner = new ConnectedRunner('r1', env, 5, new Set([id]), () => {});
  const { claiming, run } = await t.sql.begin(async (tx) => {
    await tx`select claim_lock(${env})`;
    const begun = claimRuns(t.engine, t.sql, runner, id, [0, id], 5, firstCursor);
    await expect.poll(() => lockWaiters(t.sql), { timeout: 10_000 }).toHaveLength(1);
    return { claiming: begun, run: await t.trigger('send') };
  });
  const { assignments } = await claiming;
  expect(assignments).toMatchObject([{ run: run.id, queue: 'task/send' }]);
  expect(await t.sql`select run_id from leases`).toEqual([{ run_id: run.id }]);
});

test('the example in docs/claims.md', async () => {
  const t = await testEngine();
  const env = t.environment.id;
  const { id } = await t.register({ id: 'send', queue: { name: 'mail', keyWeights: { A: 2 } } });
  await t.addRunner('r1');
  for (const key of ['A', 'B', 'C'])
    for (let n = 0; n < 8; n++) await t.trigger('send', { concurrencyKey: key });
  await t.sql`update lanes set turn = case key when 'A' then 10 when 'B' then 20 else 30 end`;
  const page = await readFile(new URL('../../../../../docs/claims.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| (\d+) runs \| `(.*)` \| .* \| (.*) \| `(.*)` \|$/gm)];
  expect(rows).toHaveLength(3);
  const runner = new ConnectedRunner('r1', env, 5, new Set([id]), () => {});
  for (const [, want, cursor, taken, next] of rows) {
    const claimed = await claimRuns(t.engine, t.sql, runner, id, [0, id], Number(want), cursor!);
    const counts = groupBy(claimed.assignments, ({ concurrencyKey }) => concurrencyKey!);
    const text = [...counts].map(([key, { length }]) => `${key} ${length}`).toSorted();
    expect([text.join(', '), claimed.cursor]).toEqual([taken, next]);
  }
});
