import type { AttemptWaits, Wait } from '@millrace/contract/runner';
import { expect, test, vi } from 'vitest';
import { Waits } from './waits.ts';

const time = (key: string): Wait => ({ key, kind: 'TIME', inMs: 1 });

function attempt() {
  const sent: AttemptWaits[] = [];
  const paused: boolean[] = [];
  const waiting = new Waits({
    run: 'run_1',
    fence: 1,
    send: (waits) => sent.push(waits),
    pause: (is) => paused.push(is),
  });
  return { waiting, sent, paused, keys: () => sent.map(({ waits }) => waits.map(({ key }) => key)) };
}

test('two waits for the same event send one request and continue together', async () => {
  const { waiting, keys, paused } = attempt();
  const both = Promise.all([waiting.begin(time('a')), waiting.begin(time('a')), waiting.begin(time('b'))]);
  await vi.waitFor(() => expect(keys()).toEqual([['a', 'b']]));
  waiting.suspended();
  waiting.over(['a', 'b']);
  await both;
  expect(paused).toEqual([true, false]);
});

test('ignores keys without a wait, and requests the remaining ones again', async () => {
  const { waiting, keys } = attempt();
  const first = waiting.begin(time('a'));
  void waiting.begin(time('b'));
  await vi.waitFor(() => expect(keys()).toHaveLength(1));
  waiting.over(['a', 'from before']);
  await first;
  await vi.waitFor(() => expect(keys()).toEqual([['a', 'b'], ['b']]), { timeout: 5_000 });
  waiting.forget();
});

test('a wait throws when its attempt receives a stop signal, and later waits are rejected', async () => {
  const { waiting, keys } = attempt();
  const begun = waiting.begin(time('a'));
  waiting.stop(new Error('asked to stop'));
  await expect(begun).rejects.toThrow('asked to stop');
  await expect(waiting.begin(time('b'))).rejects.toThrow('asked to stop');
  await new Promise((resolve) => setImmediate(resolve));
  expect(keys()).toEqual([]);
});
