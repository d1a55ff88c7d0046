import fc from 'fast-check';
import { expect, test } from 'vitest';
import { idempotencyKeyOf, indexed } from './name.ts';
import { parallel } from './parallel.ts';
import { step } from './index.ts';
import { numRuns } from '../../../../test/support/long.ts';

test('idempotency keys are the same each time, differ between steps, and fit into a header', async () => {
  const name = fc.string({ minLength: 1, maxLength: 200, unit: 'grapheme' });
  await fc.assert(
    fc.asyncProperty(name, name, async (first, second) => {
      const key = await idempotencyKeyOf('run_1', first);
      expect(key).toMatch(/^[\x21-\x7e]{1,255}$/);
      expect(await idempotencyKeyOf('run_1', first)).toBe(key);
      if (first !== second) expect(await idempotencyKeyOf('run_1', second)).not.toBe(key);
    }),
  );
  expect(await idempotencyKeyOf('run_1', indexed('charge', 1))).toBe('run_1/charge');
  expect(await idempotencyKeyOf('run_1', indexed('charge', 2))).toBe('run_1/charge#2');
});

test('parallel respects its limit, starts nothing after a failure, and awaits started items', async () => {
  const lengths = fc.array(fc.record({ ms: fc.integer({ min: 0, max: 3 }), fails: fc.boolean() }), {
    maxLength: 8,
  });
  await fc.assert(
    fc.asyncProperty(lengths, fc.integer({ min: 1, max: 4 }), async (acts, limit) => {
      let [now, max, started] = [0, 0, 0];
      const results = await parallel(
        acts.map(({ ms, fails }, index) => async () => {
          started += 1;
          max = Math.max(max, ++now);
          await new Promise((resolve) => setTimeout(resolve, ms));
          now -= 1;
          if (fails) throw new Error(String(index));
          return index;
        }),
        { limit },
      ).catch((error: Error) => error);
      expect(now).toBe(0);
      expect(max).toBeLessThanOrEqual(limit);
      if (acts.some(({ fails }) => fails)) {
        expect(results).toBeInstanceOf(Error);
        // In sequence, nothing starts after the first failure.
        if (limit === 1) expect(started).toBe(acts.findIndex(({ fails }) => fails) + 1);
      } else expect(results).toEqual(acts.map((_, index) => index));
    }),
    { numRuns: numRuns(40) },
  );
});

test('outside a run, a step reports where it works', async () => {
  await expect(step.run('a', () => 1)).rejects.toThrow(/step\.run works only in the code of a task/);
  await expect(step.sleep('a', { seconds: 1 })).rejects.toThrow(/step\.sleep works only/);
  await expect(step.triggerAndWait('a', 'b')).rejects.toThrow(/step\.triggerAndWait works only/);
});
