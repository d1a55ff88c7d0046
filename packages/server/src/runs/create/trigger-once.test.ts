import { expect, test } from 'vitest';
import { lockWaiters } from '../../../../../test/support/locks.ts';
import { prepareRun } from './prepare.ts';
import { testEngine } from '../testing/engine.ts';
import { triggerOnce } from './trigger-once.ts';

test('a request with a one-time token that is repeated while in progress has one response', async () => {
  const t = await testEngine();
  await t.register('send');
  const use = { digest: 'of the token', expiresAt: new Date(t.engine.clock.now() + 60_000) };
  const requestKey = '00000000-0000-4000-8000-000000000000';
  const send = async () => {
    const run = await prepareRun(t.engine, t.environment, 'send', {});
    return triggerOnce(t.engine, t.dispatch, { ...run, requestKey }, use);
  };
  const waiting = async (count: number) => {
    const locked = () => lockWaiters(t.sql);
    await expect.poll(locked, { timeout: 15_000 }).toHaveLength(count);
  };
  const { both } = await t.sql.begin(async (tx) => {
    // Runs can be read but not created.
    await tx`lock table runs in exclusive mode`;
    const first = send();
    await waiting(1);
    const second = send();
    await waiting(2);
    return { both: Promise.all([first, second]) };
  });
  const [response, repeated] = await both;
  expect(repeated).toEqual(response);
  expect(await t.sql`select id from runs`).toEqual([{ id: response.id }]);
});
