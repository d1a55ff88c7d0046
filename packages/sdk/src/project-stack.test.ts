import { afterEach, expect, test } from 'vitest';
import { projectStack, setProjectFolders } from './project-stack.ts';

afterEach(() => setProjectFolders([]));

const stack = (...frames: string[]): string =>
  ['Error: /cache/1/a is not a file', ...frames.map((frame) => `    at ${frame}`)].join('\n');
const own = 'async runCode (/cache/1/node_modules/@millrace/sdk/dist/executor/run-attempt.js:85:59)';

test('paths are relative to the project, and the frames that called the task are left out', () => {
  setProjectFolders(['file:///cache/1/', '/cache/1/', 'C:\\cache\\1\\']);
  expect(
    projectStack(
      stack(
        'fails (/cache/1/lib/fails.ts:1:36)',
        'file:///cache/1/tasks/a.ts:3:1',
        'windows (C:\\cache\\1\\tasks\\a.ts:3:1)',
        'query (/cache/1/node_modules/pg/index.js:1:1)',
        'process.processTicksAndRejections (node:internal/process/task_queues:104:5)',
        'Object.run (/cache/1/tasks/a.ts:3:92)',
        'process.processTicksAndRejections (node:internal/process/task_queues:104:5)',
        own,
      ),
    ),
  ).toBe(
    stack(
      'fails (lib/fails.ts:1:36)',
      'tasks/a.ts:3:1',
      'windows (tasks\\a.ts:3:1)',
      'query (node_modules/pg/index.js:1:1)',
      'process.processTicksAndRejections (node:internal/process/task_queues:104:5)',
      'Object.run (tasks/a.ts:3:92)',
    ),
  );
});

test('a stack without frames of the project keeps those that it has', () => {
  const bare = stack('process.processTicksAndRejections (node:internal/process/task_queues:104:5)', own);
  expect(projectStack(bare)).toBe(bare);
  expect(projectStack('Error: without frames')).toBe('Error: without frames');
});

test('each stack of a text is shortened separately, and the text between them is kept', () => {
  setProjectFolders(['/cache/1/']);
  const [of, cause] = [
    stack('Object.run (/cache/1/tasks/a.ts:3:92)', own),
    stack('b (/cache/1/lib/b.ts:1:1)', own),
  ];
  expect(projectStack(`it failed: ${of} {\n  code: 7,\n  [cause]: ${cause}\n}`)).toBe(
    `it failed: ${stack('Object.run (tasks/a.ts:3:92)')} {\n  code: 7,\n  [cause]: ${stack('b (lib/b.ts:1:1)')}\n}`,
  );
});
