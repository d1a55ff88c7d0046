import { expect, test } from 'vitest';
import { bodyOf, chosenOptions, cliOptions, noOptions } from './options.ts';

test('empty options are left to the task, and a test is marked as one', () => {
  expect(bodyOf(undefined, noOptions)).toEqual({ options: { test: true } });
  expect(chosenOptions(noOptions)).toBe(0);
});

test('entered options are sent in the form of the API', () => {
  const options = {
    ...noOptions,
    isTest: false,
    tags: ' a, b,,',
    queue: 'mail',
    version: '20261123.1',
    priority: '10',
    maxAttempts: 'two',
  };
  expect(bodyOf(null, options)).toEqual({
    payload: null,
    options: {
      lockToVersion: '20261123.1',
      queue: { name: 'mail' },
      tags: ['a', 'b'],
      priority: 10,
      maxAttempts: 'two',
    },
  });
  expect(chosenOptions(options)).toBe(6);
  expect(cliOptions(options)).toEqual(['--queue', 'mail', '--tag', 'a', '--tag', 'b']);
});
