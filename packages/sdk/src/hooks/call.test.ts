import { expect, test } from 'vitest';
import { callWatching, type HookCalls } from './call.ts';

test('a hook that never ends is abandoned and logged, and the next one is called', async () => {
  const warned: string[] = [];
  const called: string[] = [];
  const calls: HookCalls = {
    own: {
      onSuccess: () => {
        called.push('hangs');
        return new Promise(() => {});
      },
    },
    args: { payload: 1, ctx: {} as never, signal: new AbortController().signal, task: 'charge' },
    warn: (sentence) => void warned.push(sentence),
  };
  await callWatching(calls, 'onSuccess', { output: 1 }, 20);
  expect(called).toEqual(['hangs']);
  expect(warned).toEqual(['onSuccess took longer than 0.02 s: the run continues without it.']);
});
