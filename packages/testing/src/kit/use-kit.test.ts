import { task } from '@millrace/sdk';
import { expect, test } from 'vitest';
import { useKit } from './use-kit.ts';

const first = task({ id: 'one', run: async () => 1 });

test('concurrent tests of one kit fail with an explanation, and later tests do not', async () => {
  const acts: Record<string, () => Promise<void>> = {};
  useKit(
    { tasks: [first] },
    {
      beforeAll: (act) => void (acts['beforeAll'] = act),
      beforeEach: (act) => void (acts['beforeEach'] = act),
      afterEach: (act) => void (acts['afterEach'] = act),
      afterAll: (act) => void (acts['afterAll'] = act),
    },
  );
  const { beforeAll, beforeEach, afterEach, afterAll } = acts as Record<string, () => Promise<void>>;
  await beforeAll?.();
  try {
    await beforeEach?.();
    const shared = /write `test` instead of `test\.concurrent`/;
    await expect(beforeEach?.()).rejects.toThrow(shared);
    await expect(afterEach?.()).rejects.toThrow(shared);
    await expect(afterEach?.()).rejects.toThrow(shared);
    await beforeEach?.();
    await afterEach?.();
  } finally {
    await afterAll?.();
  }
}, 60_000);
