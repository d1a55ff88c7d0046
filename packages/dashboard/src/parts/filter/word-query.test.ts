import { expect, test } from 'vitest';
import { wordQuery } from './word-query.ts';

const keys = {
  name: { parameter: 'filter[name]' },
  status: { parameter: 'filter[status]', words: { waiting: 'WAITING', 'timed-out': 'TIMED_OUT' } },
  since: { parameter: 'filter[createdAt][period]', kind: 'period' },
  from: { parameter: 'filter[from]', kind: 'time' },
} as const;

test('words become parameters of a query', () => {
  expect(wordQuery('name:"a b" status:waiting,Timed-Out since:7d from:2026-11-21T10:00:00Z', keys)).toEqual({
    query: {
      'filter[name]': 'a b',
      'filter[status]': 'WAITING,TIMED_OUT',
      'filter[createdAt][period]': '7d',
      'filter[from]': '2026-11-21T10:00:00.000Z',
    },
  });
});

test('a key without a value, as during typing, does not filter', () => {
  expect(wordQuery('name:', keys)).toEqual({ query: {} });
});

test.each([
  ['order', '"order" has no filter name; write one before it, such as name:order'],
  ['constructor:x', '"constructor" is not a filter; write one of name, status, since, from'],
  ['status:done', '"done" is not a status; write one of waiting, timed-out'],
  ['since:soon', '"soon" is not a period; write a number and a unit, such as 30m, 2h or 7d'],
  ['from:noon', '"noon" is not a time; write a date such as 2026-11-21 or 2026-11-21T10:00'],
])('reports why %s is invalid', (text, error) => {
  expect(wordQuery(text, keys)).toEqual({ error });
});
