import type { Outcome, SerializedError } from '@millrace/contract/runner';
import { expect, test } from 'vitest';
import { testEngine } from '../testing/engine.ts';

const error: SerializedError = { type: 'BUILT_IN_ERROR', name: 'Error', message: 'no', stackTrace: '' };

async function twoAttempts() {
  const t = await testEngine();
  const { id } = await t.register('send');
  await t.addRunner('r1');
  await t.trigger('send');
  await t.trigger('send');
  const [one, other] = await t.claim('r1', [id], 2);
  return { t, one: one!, other: other! };
}

test.each<[string, object]>([
  ['no pause', { kind: 'retry', error }],
  ['no error', { kind: 'failed', status: 'FAILED' }],
])('an attempt that ends with %s fails by itself: those that end with it are recorded', async (_, odd) => {
  const { t, one, other } = await twoAttempts();
  const [first, second] = await Promise.allSettled([t.end(one, odd as Outcome), t.end(other)]);
  expect(first.status).toBe('rejected');
  expect(second).toMatchObject({ value: { stale: false, kind: 'COMPLETED' } });
});

test('a pause before the next attempt ends some day, however long it is to be', async () => {
  const { t, one, other } = await twoAttempts();
  const completions = await Promise.all([
    t.end(one, { kind: 'retry', delayMs: 1e300, error }),
    t.end(other, { kind: 'retry', delayMs: -1, error }),
  ]);
  expect(completions).toMatchObject([{ kind: 'retry' }, { kind: 'retry' }]);
  const [far] = await t.sql<{ due: Date }[]>`select due from delayed where run_id = ${one.run}`;
  expect(far!.due.getTime()).toBeGreaterThan(t.engine.clock.now() + 300 * 86_400_000);
});
