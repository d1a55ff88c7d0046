import { expect, test } from 'vitest';
import { completions, type FilterKey } from './complete.ts';

const keys: readonly FilterKey[] = [
  { key: 'status', about: 'a status', values: () => ['failed', 'crashed', 'timed-out'] },
  { key: 'task', about: 'a task', values: async () => ['send mail', 'resize'] },
  { key: 'since', about: 'a period' },
];
const labels = async (text: string, cursor = text.length) =>
  (await completions(text, cursor, keys)).map(({ label }) => label);

test('an empty field offers every key', async () => {
  expect(await labels('')).toEqual(['status:', 'task:', 'since:']);
});

test('part of a key offers the keys that begin with it, and keeps the surrounding text', async () => {
  const [only, ...others] = await completions('status:failed ta since:2h', 16, keys);
  expect(others).toEqual([]);
  expect(only).toMatchObject({ text: 'status:failed task: since:2h', cursor: 19 });
});

test('a key offers its values, those with the typed prefix first', async () => {
  expect(await labels('status:e')).toEqual(['failed', 'crashed', 'timed-out']);
  expect(await labels('status:c')).toEqual(['crashed']);
});

test('a value with a space is quoted, and followed by a space for the next word', async () => {
  expect(await completions('task:se', 7, keys)).toMatchObject([{ text: 'task:"send mail" ', cursor: 17 }]);
});

test('after a comma another value of the same key is offered', async () => {
  expect(await completions('status:failed,c', 15, keys)).toMatchObject([{ text: 'status:failed,crashed ' }]);
  expect(await labels('status:failed,')).toEqual(['crashed', 'timed-out']);
});

test('a key without known values offers nothing', async () => {
  expect(await labels('since:2')).toEqual([]);
});
