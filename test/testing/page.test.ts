import { expect, test } from 'vitest';
import { filesOf, testedProject } from './project.ts';

test('the files of the page run with vitest, node:test and jest', async () => {
  const files = await filesOf('docs/testing.md');
  expect(Object.keys(files)).toEqual([
    'tasks/order.ts',
    'tests/order.test.ts',
    'tests/order.node.ts',
    'tests/greet.jest.js',
  ]);
  const project = await testedProject(files);
  // Other tests run at the same time, and the default timeouts of these runners assume an idle machine.
  const vitest = await project.run('vitest', ['run', '--testTimeout', '60000']);
  const node = await project.run('node', ['--test', 'tests/order.node.ts']);
  const jest = await project.run(
    'jest',
    ['--testMatch', '**/*.jest.js', '--transform', '{}', '--testTimeout', '60000'],
    { NODE_OPTIONS: '--experimental-vm-modules' },
  );
  expect(vitest.output).toMatch(/Tests +2 passed/);
  expect(node.output).toMatch(/pass 1/);
  expect(jest.output).toMatch(/Tests: +1 passed/);
  expect([vitest.code, node.code, jest.code]).toEqual([0, 0, 0]);
}, 120_000);
