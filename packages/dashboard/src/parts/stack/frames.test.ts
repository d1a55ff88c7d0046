import { expect, test } from 'vitest';
import { commonFolder, framesOf, shortPath } from './frames.ts';

const stack = `TypeError: Cannot read properties of undefined (reading 'id')
second line of the message
    at readOrder (file:///srv/shop/src/orders/read.ts:14:22)
    at async Object.run (/srv/shop/tasks/mail.ts:31:5)
    at /srv/shop/node_modules/pg/lib/client.js:526:17
    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)
    at new Promise (<anonymous>)`;

test("frames have name, file and line, and distinguish the user's code from libraries", () => {
  expect(framesOf(stack).map(({ name, file, line, isOwn }) => [name, file, line, isOwn])).toEqual([
    ['readOrder', '/srv/shop/src/orders/read.ts', 14, true],
    ['Object.run', '/srv/shop/tasks/mail.ts', 31, true],
    [undefined, '/srv/shop/node_modules/pg/lib/client.js', 526, false],
    ['process.processTicksAndRejections', 'node:internal/process/task_queues', 105, false],
    ['new Promise (<anonymous>)', undefined, undefined, false],
  ]);
});

test('paths are shown without their common folder', () => {
  const common = commonFolder(framesOf(stack));
  expect(common).toBe('/srv/shop/');
  expect(shortPath('/srv/shop/tasks/mail.ts', common)).toBe('tasks/mail.ts');
});

test('text that is not a stack has no frames', () => {
  expect(framesOf('Something failed')).toEqual([]);
  expect(commonFolder([])).toBe('');
});
