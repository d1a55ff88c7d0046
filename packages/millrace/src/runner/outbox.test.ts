import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RunnerMessage } from '@millrace/contract/runner';
import { cut } from '../executor/cut.ts';
import { Outbox } from './outbox.ts';

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
  outbox.add({ run: 'run_1', fence: 1, outcome: { kind: 'canceled' } });
  outbox.add({ run: 'run_2', fence: 2, outcome: { kind: 'canceled' } });
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
  outbox.add({ run: 'run_1', fence: 1, outcome: { kind: 'canceled' }, heard: { chat: 3 } });
  outbox.add({ run: 'run_2', fence: 2, outcome: { kind: 'canceled' } });
  outbox.lost([1, 2]);
  outbox.tellAgain();
  expect(sent).toMatchObject([{ type: 'settle', settlements: [{ fence: 1, heard: { chat: 3 } }] }]);
  outbox.confirm([1]);
  await outbox.emptied();
});

test('lines wait until the server has stored those before; outcomes do not wait for them', async () => {
  const sent: RunnerMessage[] = [];
  const outbox = new Outbox((message) => sent.push(message) > 0);
  const kinds = (): string[] => sent.map(({ type }) => type);
  outbox.connected(2);
  const message = 'x'.repeat(200_000);
  outbox.log([1, 2, 3, 4].map((at) => ({ run: 'run_1', attempt: 1, at, level: 'log', message })));
  outbox.add({ run: 'run_1', fence: 1, outcome: { kind: 'canceled' } });
  await new Promise(setImmediate);
  expect(kinds()).toEqual(['log', 'log', 'settle']);
  outbox.confirm([1]);
  let isEmpty = false;
  void outbox.emptied().then(() => (isEmpty = true));
  outbox.logged();
  await new Promise(setImmediate);
  expect([kinds().slice(3), isEmpty]).toEqual([['log'], false]);
  outbox.logged();
  await new Promise(setImmediate);
  expect([kinds().slice(4), isEmpty]).toEqual([['log'], true]);
  // What was under way on a connection that was lost is not waited for.
  outbox.connected(2);
  outbox.log([{ run: 'run_1', attempt: 1, at: 5, level: 'log', message }]);
  outbox.tellAgain();
  expect(kinds().slice(5)).toEqual(['log']);
});
