import { expect, test } from 'vitest';
import { errorFilterQuery, errorListQuery } from './error-filter.ts';

test('words with a known key filter; all others are searched for verbatim', () => {
  expect(
    errorFilterQuery('task:mail task:"send it" version:20261121.3 TypeError: "reading id" of:x'),
  ).toEqual({
    'filter[taskIdentifier]': 'mail,send it',
    'filter[version]': '20261121.3',
    'filter[search]': 'TypeError: reading id of:x',
  });
  expect(errorFilterQuery('owner:@payments owner:ana@example.com')).toEqual({
    'filter[owner]': '@payments,ana@example.com',
  });
  expect(errorFilterQuery(' task: ')).toEqual({});
});

test('lists unresolved errors of the last seven days by default', () => {
  expect(errorListQuery({})).toEqual({
    query: { 'filter[status]': 'unresolved', 'filter[period]': '7d' },
    time: { period: '7d' },
    trend: '7d',
  });
});

test('errors of the reader are those of their owner', () => {
  expect(errorListQuery({ owner: 'me' }, 'ana@example.com').query).toMatchObject({
    'filter[owner]': 'ana@example.com',
  });
  expect(errorListQuery({ owner: 'all' }, 'ana@example.com').query).not.toHaveProperty('filter[owner]');
});

test('a brushed time wins over a range, and all time has no end', () => {
  const [from, to] = ['2026-11-21T10:00Z', '2026-11-21T11:00Z'];
  expect(errorListQuery({ status: 'all', range: '1d', from, to }).query).toEqual({
    'filter[from]': from,
    'filter[to]': to,
  });
  expect(errorListQuery({ status: 'ignored', range: 'all', sort: 'count' })).toEqual({
    query: { 'filter[status]': 'ignored', sort: 'count' },
    time: { period: '30d' },
    trend: '30d',
  });
});
