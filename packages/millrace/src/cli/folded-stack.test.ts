import { expect, test } from 'vitest';
import { foldedStack } from './folded-stack.ts';

test('consecutive frames of packages and of Node.js are one line', () => {
  const packages = [
    '    at query (node_modules/pg/index.js:1:1)',
    '    at process.processTicksAndRejections (node:internal/process/task_queues:104:5)',
  ];
  expect(
    foldedStack(
      [
        'Error: at home',
        ...packages,
        '    at run (tasks/a.ts:1:1)',
        packages[0],
        '    at tasks/b.ts:1:1',
        ...packages,
      ].join('\n'),
    ),
  ).toBe(
    [
      'Error: at home',
      '    … 2 frames of packages and Node.js',
      '    at run (tasks/a.ts:1:1)',
      packages[0],
      '    at tasks/b.ts:1:1',
      '    … 2 frames of packages and Node.js',
    ].join('\n'),
  );
  const foreign = ['Error: no', ...packages].join('\n');
  expect(foldedStack(foreign)).toBe(foreign);
});
