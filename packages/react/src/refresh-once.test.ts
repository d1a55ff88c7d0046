import { expect, test } from 'vitest';
import { refreshOnce } from './refresh-once.ts';

test('calls that overlap share one request, and a later call sends another, also after a failure', async () => {
  const answers: ((token: string | Error) => void)[] = [];
  const refresh = (): Promise<string> =>
    new Promise((resolve, reject) =>
      answers.push((token) => (token instanceof Error ? reject(token) : resolve(token))),
    );
  const both = Promise.all([refreshOnce(refresh), refreshOnce(refresh)]);
  answers[0]?.('first');
  expect(await both).toEqual(['first', 'first']);
  const failing = refreshOnce(refresh);
  answers[1]?.(new Error('not now'));
  await expect(failing).rejects.toThrow('not now');
  const third = refreshOnce(refresh);
  answers[2]?.('third');
  expect(await third).toBe('third');
});
