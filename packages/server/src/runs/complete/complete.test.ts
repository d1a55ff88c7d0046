import type { Outcome, SerializedError } from '@millrace/contract/runner';
import { expect, test } from 'vitest';
import { createRedactor } from '../../envvars/redact/redactor.ts';
import { testEngine } from '../testing/engine.ts';
import { createComplete } from './complete.ts';

const error: SerializedError = { type: 'BUILT_IN_ERROR', name: 'Error', message: 'no', stackTrace: '' };

async function twoAttempts() {
  const t = await testEngine();
  const { id } = await t.register('send');
  await t.addRunner('r1');
  await t.trigger('send');
  await t.trigger('send');
  const [first, second] = await t.claim('r1', [id], 2);
  return { t, first: first!, second: second! };
}

test.each<[string, object]>([
  ['no pause', { kind: 'retry', error }],
  ['no error', { kind: 'failed', status: 'FAILED' }],
])('only the attempt that ends with %s fails; others in the same statement are recorded', async (_, odd) => {
  const { t, first, second } = await twoAttempts();
  const [rejected, ended] = await Promise.allSettled([t.end(first, odd as Outcome), t.end(second)]);
  expect(rejected.status).toBe('rejected');
  expect(ended).toMatchObject({ value: { stale: false, kind: 'COMPLETED' } });
});

test('the delay before the next attempt is limited', async () => {
  const { t, first, second } = await twoAttempts();
  const completions = await Promise.all([
    t.end(first, { kind: 'retry', delayMs: 1e300, error }),
    t.end(second, { kind: 'retry', delayMs: -1, error }),
  ]);
  expect(completions).toMatchObject([{ kind: 'retry' }, { kind: 'retry' }]);
  const [far] = await t.sql<{ due: Date }[]>`select due from delayed where run_id = ${first.run}`;
  expect(far!.due.getTime()).toBeGreaterThan(t.engine.clock.now() + 300 * 86_400_000);
});

test('an outcome is stored without secrets, then published, then traced; a stale one is not traced', async () => {
  const { t, first } = await twoAttempts();
  const steps: unknown[] = [];
  const redactor = createRedactor(['correct-horse-battery']);
  const complete = createComplete({
    engine: {
      ...t.engine,
      changes: {
        ...t.engine.changes,
        isWatched: () => true,
        changed: (_env, runs) => void steps.push({ changed: runs }),
      },
    },
    engineSql: t.sql,
    dispatch: t.dispatch,
    resume() {},
    runners: t.runners,
    redactor: () => redactor,
    tracing: { attempt: ({ outcome }, status) => void steps.push({ traced: status, outcome }) },
  });
  const outcome = { kind: 'completed', output: 'a correct-horse-battery', outputType: 'text/plain' } as const;
  const ended = { env: t.environment.id, task: 'send', ...first, outcome };

  expect(await complete(ended)).toEqual({ stale: false, kind: 'COMPLETED' });
  const output = 'a <redacted>';
  expect(await t.sql`select output from runs where id = ${first.run}`).toEqual([{ output }]);
  expect(steps).toEqual([{ changed: [first.run] }, { traced: 'COMPLETED', outcome: { ...outcome, output } }]);

  steps.length = 0;
  expect(await complete(ended)).toEqual({ stale: true, kind: undefined });
  expect(steps).toEqual([{ changed: [first.run] }]);
});
