import type { RunnerMessage } from '@millrace/contract/runner';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { cut } from '../executor/cut.ts';
import { Outbox } from './outbox.ts';

const sum = (part: readonly number[]): number => part.reduce((total, length) => total + length + 200, 0);

test('splitting into frames keeps the order, and no frame with several items is too long', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(3_000)), (lengths) => {
      const parts = cut(lengths, (length) => length, 4_000);
      expect(parts.flat()).toEqual(lengths);
      expect(parts.filter((part) => part.length === 0 || (part.length > 1 && sum(part) > 4_000))).toEqual([]);
    }),
  );
});

test('settlements and unsent lines are resent until confirmed', async () => {
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
  outbox.resend();
  expect(sent).toMatchObject([{ type: 'log' }, { type: 'settle', settlements: [{ fence: 2 }] }]);
  outbox.confirm([2]);
  await outbox.emptied();
});

test('consumed messages of a run are resent although the server has its outcome', async () => {
  const sent: RunnerMessage[] = [];
  const outbox = new Outbox((message) => sent.push(message) > 0);
  outbox.add({ run: 'run_1', fence: 1, outcome: { kind: 'canceled' }, consumed: { chat: 3 } });
  outbox.add({ run: 'run_2', fence: 2, outcome: { kind: 'canceled' } });
  outbox.lost([1, 2]);
  outbox.resend();
  expect(sent).toMatchObject([{ type: 'settle', settlements: [{ fence: 1, consumed: { chat: 3 } }] }]);
  outbox.confirm([1]);
  await outbox.emptied();
});

test('lines wait until the server has stored those before; outcomes do not wait for them', async () => {
  const sent: RunnerMessage[] = [];
  const outbox = new Outbox((message) => sent.push(message) > 0);
  const kinds = (): string[] => sent.map(({ type }) => type);
  outbox.connected({ logFrames: 2 });
  const message = 'x'.repeat(200_000);
  outbox.log([1, 2, 3, 4].map((at) => ({ run: 'run_1', attempt: 1, at, level: 'log', message })));
  outbox.add({ run: 'run_1', fence: 1, outcome: { kind: 'canceled' } });
  await new Promise(setImmediate);
  expect(kinds()).toEqual(['log', 'log', 'settle']);
  outbox.confirm([1]);
  let isEmpty = false;
  void outbox.emptied().then(() => (isEmpty = true));
  outbox.logged(1);
  await new Promise(setImmediate);
  expect([kinds().slice(3), isEmpty]).toEqual([['log'], false]);
  outbox.logged(2);
  await new Promise(setImmediate);
  expect([kinds().slice(4), isEmpty]).toEqual([['log'], false]);
  outbox.logged(3);
  outbox.logged(4);
  await new Promise(setImmediate);
  expect([kinds().length, isEmpty]).toEqual([5, true]);
});

test('only unconfirmed lines are resent on a new connection, with the same numbers', () => {
  const sent: RunnerMessage[] = [];
  let isConnected = true;
  const outbox = new Outbox((message) => isConnected && sent.push(message) > 0);
  const frames = () =>
    sent.flatMap((message) => (message.type === 'log' ? [[message.seq, message.lines[0]?.at]] : []));
  const message = 'x'.repeat(200_000);
  outbox.connected({ logFrames: 3 });
  outbox.log([1, 2, 3, 4].map((at) => ({ run: 'run_1', attempt: 1, at, level: 'log', message })));
  outbox.resend();
  expect(frames()).toEqual([
    [1, 1],
    [2, 2],
    [3, 3],
  ]);
  outbox.logged(1);
  isConnected = false;
  outbox.resend();
  // The confirmation of the second outcome was lost with the connection.
  isConnected = true;
  sent.length = 0;
  outbox.connected({ logFrames: 3, logged: 2 });
  expect(frames()).toEqual([
    [3, 3],
    [4, 4],
  ]);
});

test('frames respect the limits of the server', () => {
  const sent: RunnerMessage[] = [];
  const outbox = new Outbox((message) => sent.push(message) > 0);
  outbox.connected({ logFrames: 10, frameLines: 2, frameSpans: 3 });
  const first = { run: 'run_1', attempt: 1 };
  outbox.log([1, 2, 3, 4, 5].map((at) => ({ ...first, at, level: 'log', message: 'short' })));
  const spans = [1, 2, 3, 4].map((at) => ({ id: `000000000000000${at}`, name: 'a', at, took: 1 }));
  outbox.spans([
    { ...first, trace: 'a'.repeat(32), spans },
    { ...first, attempt: 2, trace: 'a'.repeat(32), spans },
  ]);
  for (let fence = 1; fence <= 1_001; fence++)
    outbox.add({ run: 'run_1', fence, outcome: { kind: 'canceled' } });
  outbox.resend();
  const logs = sent.flatMap((message) => (message.type === 'log' ? [message] : []));
  const spansIn = ({ spans: chunks = [] }: (typeof logs)[number]) =>
    chunks.flatMap((chunk) => chunk.spans).length;
  expect(logs.map((message) => [message.lines.length, spansIn(message)])).toEqual([
    [2, 3],
    [2, 3],
    [1, 2],
  ]);
  const settled = sent.flatMap((message) => (message.type === 'settle' ? [message.settlements.length] : []));
  expect(settled).toEqual([500, 500, 1]);
});

test('an output too large for a frame fails its run, not the connection', () => {
  const sent: RunnerMessage[] = [];
  const outbox = new Outbox((message) => sent.push(message) > 0);
  const output = '\u0001'.repeat(6 * 1024 * 1024);
  outbox.add({ run: 'run_1', fence: 1, outcome: { kind: 'completed', output, outputType: 'text/plain' } });
  outbox.resend();
  expect(sent).toMatchObject([
    {
      type: 'settle',
      settlements: [{ outcome: { kind: 'failed', error: { name: 'OutputTooLargeError' } } }],
    },
  ]);
});
