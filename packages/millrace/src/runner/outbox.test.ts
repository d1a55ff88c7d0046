import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RunnerMessage } from '@millrace/contract/runner';
import { cut, maxUnsentLines, Outbox } from './outbox.ts';

const sum = (part: readonly number[]): number => part.reduce((total, length) => total + length + 200, 0);

test('cutting into frames keeps every item in its order, and no part with several items is too long', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(3_000)), (lengths) => {
      const parts = cut(lengths, (length) => length, 4_000);
      expect(parts.flat()).toEqual(lengths);
      expect(parts.filter((part) => part.length === 0 || (part.length > 1 && sum(part) > 4_000))).toEqual([]);
    }),
  );
});

test('settlements are told again until they are confirmed, lines that could not be sent as well', async () => {
  const sent: RunnerMessage[] = [];
  let connected = false;
  const outbox = new Outbox((message) => connected && sent.push(message) > 0);
  outbox.log([{ run: 'run_1', attempt: 1, at: 0, level: 'log', message: 'hello' }]);
  outbox.settle({ run: 'run_1', fence: 1, outcome: { kind: 'canceled' } });
  outbox.settle({ run: 'run_2', fence: 2, outcome: { kind: 'canceled' } });
  await new Promise(setImmediate);
  expect(outbox.fences).toEqual([1, 2]);
  connected = true;
  outbox.confirm([1]);
  outbox.tellAgain();
  expect(sent).toMatchObject([{ type: 'log' }, { type: 'settle', settlements: [{ fence: 2 }] }]);
  outbox.confirm([2]);
  await outbox.emptied();
});

test('what a run had heard is told again though the server has its end: it may have got no further', async () => {
  const sent: RunnerMessage[] = [];
  const outbox = new Outbox((message) => sent.push(message) > 0);
  outbox.settle({ run: 'run_1', fence: 1, outcome: { kind: 'canceled' }, heard: { chat: 3 } });
  outbox.settle({ run: 'run_2', fence: 2, outcome: { kind: 'canceled' } });
  outbox.lost([1, 2]);
  outbox.tellAgain();
  expect(sent).toMatchObject([{ type: 'settle', settlements: [{ fence: 1, heard: { chat: 3 } }] }]);
  outbox.confirm([1]);
  await outbox.emptied();
});

test('lines that there was no room for while the server was away are told of in the log of their run', async () => {
  const sent: RunnerMessage[] = [];
  let connected = false;
  const outbox = new Outbox((message) => connected && sent.push(message) > 0);
  const line = (run: string, at: number) =>
    ({ run, attempt: 2, at, level: 'log', message: `line ${at}` }) as const;
  outbox.log([line('run_1', 1), line('run_1', 2), line('run_2', 3)]);
  outbox.log(Array.from({ length: maxUnsentLines }, (_, index) => line('run_3', 4 + index)));
  await new Promise((resolve) => setTimeout(resolve, 100));
  connected = true;
  outbox.tellAgain();
  const lines = sent.flatMap((message) => (message.type === 'log' ? message.lines : []));
  const limit = `the limit is ${maxUnsentLines} lines of all runs while the server cannot be reached`;
  expect(lines.slice(0, 3)).toEqual([
    { run: 'run_1', attempt: 2, at: 2, level: 'warn', message: `… 2 lines were not kept: ${limit}` },
    { run: 'run_2', attempt: 2, at: 3, level: 'warn', message: `… 1 line was not kept: ${limit}` },
    line('run_3', 4),
  ]);
  expect(lines).toHaveLength(2 + maxUnsentLines);
  outbox.tellAgain();
  expect(sent.flatMap((message) => (message.type === 'log' ? message.lines : []))).toHaveLength(
    2 + maxUnsentLines,
  );
});
