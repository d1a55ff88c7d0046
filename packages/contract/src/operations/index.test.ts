import { expect, expectTypeOf, test } from 'vitest';
import { operations, type OperationsOf } from '../index.ts';

test('each operation has its name as its id, and a unique method and path', () => {
  const all = Object.entries(operations);
  expect(all.filter(([name, { id }]) => name !== id)).toEqual([]);
  const routes = all.map(([, { method, path }]) => `${method} ${path}`);
  expect(routes.filter((route, index) => routes.indexOf(route) !== index)).toEqual([]);
});

test('the operations of a concept are those that its file exports', () => {
  type Expected = 'followLogs' | 'followRunLogs' | 'pauseEnvironment' | 'resumeEnvironment';
  expectTypeOf<keyof OperationsOf<'logsFollow' | 'environmentsPause'>>().toEqualTypeOf<Expected>();
});
