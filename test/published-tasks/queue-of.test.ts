import { concurrencyLimit, queue, task } from '@trigger.dev/sdk';
import { expect, test } from 'vitest';
import { registerApis } from '../../packages/compat/src/runtime/apis.ts';
import { Catalog } from '../../packages/compat/src/runtime/catalog.ts';
import { queueOf } from '../../packages/compat/src/runtime/queue-of.ts';

/** The queue of the task `a`, or the reason for a rejection; declared with the published SDK. */
function queueOfA(
  declare: (options: { readonly id: string; readonly run: () => Promise<void> }) => void,
): unknown {
  const catalog = new Catalog();
  registerApis({ 'resource-catalog': catalog.api });
  declare({ id: 'a', run: async () => {} });
  try {
    const declared = catalog.task('a');
    return declared && queueOf(declared, catalog);
  } catch (error) {
    return (error as Error).message;
  }
}

const ofTask = (limit: number) => ({ name: 'task/a', limit });

test.each<[string, Parameters<typeof task>[0]['concurrency'], unknown]>([
  ['nothing', undefined, undefined],
  ['no limit', {}, undefined],
  ['a total', { total: 1 }, { name: 'task/a', concurrency: ofTask(1) }],
  ['a total of zero', { total: 0 }, { name: 'task/a', concurrency: ofTask(0) }],
  ['a total above all limits', { total: 1_000_000 }, { name: 'task/a', concurrency: ofTask(100_000) }],
  ['a limit per key', { perKey: 2 }, { name: 'task/a', concurrencyLimit: 2 }],
  ['both', [{ perKey: 2, total: 5 }], { name: 'task/a', concurrencyLimit: 2, concurrency: ofTask(5) }],
  ['a named limit', 'provider', { name: 'task/a', concurrency: { name: 'provider', limit: 3 } }],
  [
    'a named limit and a limit per key',
    ['provider', { perKey: 1 }],
    { name: 'task/a', concurrencyLimit: 1, concurrency: { name: 'provider', limit: 3 } },
  ],
  ['a named limit per key', 'user', { name: 'task/a', concurrencyLimit: 4 }],
  [
    'two totals',
    ['provider', { total: 1 }],
    'task "a": concurrency has 2 totals, but a queue has one here: keep the total of the task or "provider"',
  ],
  [
    'a limit that is not declared',
    'other',
    expect.stringMatching(/no concurrency limit "other": declare it/),
  ],
])('the queue of a task with %s has the limits that it declares', (_, concurrency, expected) => {
  const found = queueOfA((options) => {
    task({ ...options, ...(concurrency !== undefined && { concurrency }) });
    // Declared later, as in a file that is imported later.
    concurrencyLimit({ name: 'provider', total: 3 });
    concurrencyLimit({ name: 'user', perKey: 4 });
  });
  expect(found).toEqual(expected);
});

test('a queue of several tasks accepts only limits that apply to all of them', () => {
  const named = { name: 'shared', concurrency: { name: 'provider', limit: 3 } };
  const run = async (): Promise<void> => {};
  const shared = (mine: object, other: object) =>
    queueOfA((options) => {
      concurrencyLimit({ name: 'provider', total: 3 });
      task({ ...options, queue: 'shared', ...mine });
      task({ id: 'b', run, queue: 'shared', ...other });
      queue({ name: 'shared', concurrencyLimit: 9 });
    });
  expect(shared({}, {})).toEqual({ name: 'shared', concurrencyLimit: 9 });
  const limited = { concurrency: 'provider' };
  expect(shared(limited, limited)).toEqual({ ...named, concurrencyLimit: 9 });
  expect(shared(limited, {})).toMatch(
    /^task "a": its concurrency would also apply to the task "b", which uses the same/,
  );
  expect(shared({ concurrency: { total: 1 } }, { concurrency: { total: 1 } })).toMatch(/would also apply/);
  const alone = queueOfA((options) => {
    task({ ...options, queue: { name: 'mine', concurrencyLimit: 5 }, concurrency: { total: 2, perKey: 7 } });
  });
  expect(alone).toEqual({ name: 'mine', concurrencyLimit: 5, concurrency: { name: 'task/a', limit: 2 } });
});

test('a named limit per key applies to one task', () => {
  const found = queueOfA((options) => {
    concurrencyLimit({ name: 'user', perKey: 4 });
    task({ ...options, concurrency: 'user' });
    task({ id: 'b', run: async () => {}, concurrency: 'user' });
  });
  expect(found).toMatch(
    /"user" has a perKey but is used by 2 tasks.*queue\({ name: 'user', concurrencyLimit: 4 }\)/,
  );
});
