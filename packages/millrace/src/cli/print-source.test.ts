import { expect, test } from 'vitest';
import { ownPosition, printSource } from './print-source.ts';
import type { Screen } from './screen.ts';

const stack = `Error: no such order
    at Client.query (/cache/abc/node_modules/pg/lib/client.js:526:17)
    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)
    at async readOrder (file:///cache/abc/src/orders.ts:14:22)
    at async run (/cache/abc/tasks/mail.ts:3:1)`;

test('the position of a stack trace is its first frame outside packages and Node.js', () => {
  expect(ownPosition(stack)).toEqual({ file: 'file:///cache/abc/src/orders.ts', line: 14 });
  expect(ownPosition('Error: no frames')).toBeUndefined();
});

test('prints lines with a mark at the position, or nothing if the file cannot be read', async () => {
  const printed: string[] = [];
  const same = (text: string): string => text;
  const paint = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same };
  const screen: Screen = { line: (text = '') => void printed.push(text), text() {}, raw() {}, paint };
  const run = { version: '20261121.1', error: { stackTrace: stack } };
  const lines = [
    { number: 13, text: '\tconst id = 1;' },
    { number: 14, text: '\treturn orders[id].name;' },
  ];
  const reply = { version: '20261121.1', file: 'src/orders.ts', lines, note: null };
  await printSource({ source: async () => reply }, run, screen);
  expect(printed).toEqual([
    '',
    'src/orders.ts:14',
    '  13 |   const id = 1;',
    '> 14 |   return orders[id].name;',
  ]);
  printed.length = 0;
  await printSource({ source: async () => ({ ...reply, lines: [], note: 'none' }) }, run, screen);
  await printSource({ source: () => Promise.reject(new Error('403')) }, run, screen);
  await printSource({ source: async () => reply }, undefined, screen);
  expect(printed).toEqual([]);
});
