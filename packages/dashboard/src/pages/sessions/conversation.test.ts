import { expect, test } from 'vitest';
import { conversationOf, messageOf, wordsOf, type ChannelRecord } from './conversation.ts';
import { cpuTimeOf } from '../../../../../test/support/cpu-time.ts';

const record = (
  seq: number,
  at: number,
  data: unknown,
  headers?: ChannelRecord['headers'],
): ChannelRecord => ({
  seq_num: seq,
  timestamp: at,
  body: headers ? '' : JSON.stringify({ data, id: String(seq) }),
  ...(headers && { headers }),
});
const turnComplete = (seq: number, at: number) =>
  record(seq, at, undefined, [['trigger-control', 'turn-complete']]);

test('chunks of an answer form one entry until the turn completes or a message arrives', () => {
  const ins = [record(0, 10, '{"text":"Hello"}'), record(1, 50, 'and more')];
  const outs = [
    record(0, 20, 'Good '),
    record(1, 30, { type: 'text-delta', delta: 'day' }),
    turnComplete(2, 40),
    record(3, 60, { step: 1 }),
    record(4, 70, 'Done'),
  ];
  expect(conversationOf(ins, outs)).toEqual([
    { kind: 'in', seq: 0, at: 10, value: { text: 'Hello' } },
    { kind: 'out', seq: 0, at: 20, parts: [{ kind: 'text', text: 'Good day' }], chunks: 2, isComplete: true },
    { kind: 'in', seq: 1, at: 50, value: 'and more' },
    {
      kind: 'out',
      seq: 3,
      at: 60,
      parts: [
        { kind: 'value', value: { step: 1 } },
        { kind: 'text', text: 'Done' },
      ],
      chunks: 2,
      isComplete: false,
    },
  ]);
});

test('other control records are shown, commands of the log are not', () => {
  const outs = [
    record(0, 10, undefined, [['', 'trim']]),
    record(1, 20, undefined, [['trigger-control', 'upgrade-required']]),
  ];
  expect(conversationOf([], outs)).toEqual([{ kind: 'control', seq: 1, at: 20, name: 'upgrade-required' }]);
});

test('a message is read as JSON, or as text if it is not valid JSON', () => {
  expect(messageOf(JSON.stringify({ data: '{"text":"a"}', id: '1' }))).toEqual({ text: 'a' });
  expect(messageOf(JSON.stringify({ data: '{ not json', id: '1' }))).toBe('{ not json');
  expect(messageOf('no envelope')).toBe('no envelope');
});

test('the text of a message is found in common chat formats', () => {
  expect(wordsOf({ text: 'a' })).toBe('a');
  expect(wordsOf({ role: 'user', content: [{ type: 'text', text: 'a' }] })).toBe('a');
  expect(wordsOf({ kind: 'message', payload: { message: { parts: [{ text: 'a' }, { text: 'b' }] } } })).toBe(
    'ab',
  );
  expect(wordsOf({ step: 1 })).toBeUndefined();
});

test('ten thousand chunks are joined quickly', () => {
  const outs = Array.from({ length: 10_000 }, (_, n) => record(n, n, 'word '));
  expect(cpuTimeOf(() => expect(conversationOf([], outs)).toHaveLength(1))).toBeLessThan(500);
});
