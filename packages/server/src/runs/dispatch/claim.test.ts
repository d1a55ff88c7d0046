import { expect, test } from 'vitest';
import { lockWaiters } from '../../../../../test/support/locks.ts';
import { ConnectedRunner } from '../../runners/runners.ts';
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
