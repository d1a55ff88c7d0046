import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isUnreadable, runFilterQuery, statusesOfWord, wordOfStatus } from './run-filter.ts';
import { runFilterParams } from './run-filter-params.ts';
import { filterWords, quotedValue, withFilterWord } from './words.ts';
import { listRunsQuery } from '../operations/runs-list.ts';
import { runStatuses } from '../status.ts';

describe('words of a filter', () => {
  test('are keys with values, in quotes where they have blanks', () => {
    expect(filterWords(' status:failed  error:"connection \\"reset\\" by peer" half')).toMatchObject([
      { key: 'status', value: 'failed', from: 1, to: 14 },
      { key: 'error', value: 'connection "reset" by peer' },
      { key: undefined, value: 'half' },
    ]);
  });

  test('are read back unchanged for every value', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (value) => {
        expect(filterWords(`a:1 tag:${quotedValue(value)} b:2`).map((word) => word.value)).toEqual([
          '1',
          value,
          '2',
        ]);
      }),
    );
  });

  test('do not fail on incomplete input', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        for (const { from, to } of filterWords(text)) expect(text.slice(from, to)).not.toBe('');
      }),
    );
  });

  test('can be replaced and removed', () => {
    expect(withFilterWord('status:failed since:2h', 'since', '1d')).toBe('status:failed since:1d');
    expect(withFilterWord('status:failed since:2h', 'status', undefined)).toBe('since:2h');
  });
});

describe('a filter of runs', () => {
  test('is the query of the list', () => {
    expect(runFilterQuery('status:failed,timed-out status:running task:mail tag:eu since:2h')).toEqual({
      'filter[status]': 'FAILED,TIMED_OUT,EXECUTING,DEQUEUED',
      'filter[taskIdentifier]': 'mail',
      'filter[tag]': 'eu',
      'filter[createdAt][period]': '2h',
    });
  });

  test('distinguishes the id of an error group from error text', () => {
    expect(runFilterQuery('error:error_01')).toEqual({ 'filter[error]': 'error_01' });
    expect(runFilterQuery('error:"no such host"')).toEqual({ 'filter[errorText]': 'no such host' });
  });

  test('accepts several values of a declared path', () => {
    expect(runFilterQuery('metadata.customer.id:42,43 payload.order:A-17')).toEqual({
      'filter[metadata]': '{"customer.id":["42","43"]}',
      'filter[payload]': '{"order":["A-17"]}',
    });
  });

  test("matches the SDK's filter, plus a bulk action", () => {
    const read = runFilterQuery(
      'status:failed task:mail queue:task/mail,slow test:true metadata.a:1 from:2026-11-21T10:00 error:x',
    );
    expect(!isUnreadable(read) && runFilterParams(read)).toEqual({
      status: ['FAILED'],
      taskIdentifier: ['mail'],
      queue: [
        { type: 'task', name: 'mail' },
        { type: 'custom', name: 'slow' },
      ],
      isTest: true,
      metadata: { a: ['1'] },
      from: Date.parse('2026-11-21T10:00Z'),
      errorText: 'x',
    });
  });

  test.each([
    ['mail', 'has no filter name'],
    ['colour:red', 'is not a filter'],
    ['status:broken', 'is not a status'],
    ['since:yesterday', 'is not a period'],
    ['from:soon', 'is not a time'],
    ['test:maybe', 'true or false'],
  ])('reports the error in %s', (text, part) => {
    const read = runFilterQuery(text);
    expect(isUnreadable(read) && read.error).toContain(part);
  });

  test('is one that the list accepts', () => {
    const text =
      'status:failed task:a tag:b queue:task/a version:1 since:2h error:x schedule:s batch:b bulk:k test:true from:2026-11-21 payload.a:1';
    expect(listRunsQuery.safeParse(runFilterQuery(text)).success).toBe(true);
  });

  test('knows each status by its word', () => {
    for (const status of runStatuses) expect(statusesOfWord(wordOfStatus(status))).toEqual([status]);
  });
});
