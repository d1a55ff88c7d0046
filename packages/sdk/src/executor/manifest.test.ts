import { taskManifest } from '@millrace/contract/runner';
import { describe, expect, test } from 'vitest';
import { task } from '../index.ts';
import { taskBrand } from '../task/types.ts';
import { findTasks } from './find-tasks.ts';
import { manifestOf } from './manifest.ts';

const run = () => {};
// What a caller without types may write.
const declared = (options: object) => task({ id: 't', run, ...options } as Parameters<typeof task>[0]);

describe('findTasks', () => {
  test('finds every exported task once, whatever else is exported', () => {
    const a = declared({ id: 'a' });
    const b = declared({ id: 'b' });
    const found = findTasks({ a, again: a, default: b, config: { id: 'c', run }, n: 1, nothing: null, run });
    expect(found).toEqual([
      { task: a, exportName: 'a' },
      { task: b, exportName: 'default' },
    ]);
  });

  test('finds the task of another copy of this package', () => {
    const foreign = { id: 'f', [Symbol.for('@millrace/sdk/task')]: { id: 'f', run } };
    expect(findTasks({ foreign })).toHaveLength(1);
    expect(Symbol.for('@millrace/sdk/task')).toBe(taskBrand);
  });
});

describe('manifestOf', () => {
  test('tells the server everything it must know, in a form that the contract accepts', () => {
    const manifest = manifestOf(
      declared({
        id: 'charge',
        description: 'Takes money',
        queue: { concurrencyLimit: 3 },
        retry: { maxAttempts: 5, randomize: false },
        maxDuration: 60,
        machine: 'micro',
        ttl: '1h30m',
        isolated: true,
        fingerprint: 'money',
      }),
      'tasks/charge.ts',
      'charge',
    );
    expect(manifest).toEqual({
      id: 'charge',
      filePath: 'tasks/charge.ts',
      exportName: 'charge',
      description: 'Takes money',
      queue: { name: 'task/charge', concurrencyLimit: 3 },
      retry: { maxAttempts: 5, randomize: false },
      maxDuration: 60,
      machine: 'micro',
      ttl: 5_400,
      isolated: true,
      fingerprint: 'money',
    });
    expect(taskManifest.parse(manifest)).toEqual(manifest);
  });

  test.each([
    [{ id: '' }, 'id must be a string of 1 to 128 characters; got ""'],
    [{ id: 5 }, 'id must be a string'],
    [{ id: 'x'.repeat(129) }, 'id must be a string'],
    [{ run: undefined }, 'run must be a function; got undefined'],
    [{ retry: { maxAttempts: 0 } }, 'retry.maxAttempts must be a whole number from 1 to 1000; got 0'],
    [{ retry: { factor: 0.5 } }, 'retry.factor must be a number from 1 to 100; got 0.5'],
    [{ retry: { minTimeoutInMs: -1 } }, 'retry.minTimeoutInMs must be a whole number of at least 0; got -1'],
    [{ retry: 3 }, 'retry must be an object; got 3'],
    [{ retry: { randomize: 'no' } }, 'retry.randomize must be true or false; got "no"'],
    [{ queue: 'q' }, 'queue must be an object; got "q"'],
    [{ queue: { name: '' } }, 'queue.name must be a string'],
    [
      { queue: { concurrencyLimit: 1.5 } },
      'queue.concurrencyLimit must be a whole number of at least 0; got 1.5',
    ],
    [{ maxDuration: 4 }, 'maxDuration must be a whole number from 5 to 2147483647; got 4'],
    [{ machine: 'huge' }, 'machine must be one of micro, '],
    [{ ttl: 'soon' }, 'ttl must be seconds, or a duration such as 1h30m; got "soon"'],
    [{ ttl: Number.NaN }, 'ttl must be a whole number'],
    [{ isolated: 1 }, 'isolated must be true or false; got 1'],
    [{ requires: ['a b'] }, 'requires must be a list of up to 32 labels without spaces and commas; got a b'],
    [{ requires: 'gpu' }, 'requires must be a list of up to 32 labels without spaces and commas; got "gpu"'],
    [{ description: 1 }, 'description must be a string'],
    [{ fingerprint: '' }, 'fingerprint must be a string'],
    [{ schema: { parse() {} } }, 'schema must be a Standard Schema'],
  ])('refuses %j', (options, message) => {
    expect(() => manifestOf(declared(options), 'tasks/t.ts', 'one')).toThrow(message);
    expect(() => manifestOf(declared(options), 'tasks/t.ts', 'one')).toThrow(
      /^tasks\/t\.ts, export one: task /,
    );
  });
});
