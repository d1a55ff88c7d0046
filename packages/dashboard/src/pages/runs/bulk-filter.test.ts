import { createBulkAction } from '@millrace/contract';
import { runFilterQuery, type RunFilterQuery } from '@millrace/contract/filter';
import { expect, test } from 'vitest';
import { bulkFilterOf } from './bulk-filter.ts';

test('finds the same runs as the list', () => {
  const text =
    'status:failed,crashed task:mail queue:task/mail,slow tag:eu test:true error:timeout metadata.plan:pro,free since:2h';
  const filter = bulkFilterOf(runFilterQuery(text) as RunFilterQuery);
  expect(filter).toEqual({
    status: ['FAILED', 'CRASHED'],
    taskIdentifier: ['mail'],
    queue: [
      { type: 'task', name: 'mail' },
      { type: 'custom', name: 'slow' },
    ],
    tag: ['eu'],
    isTest: true,
    errorText: 'timeout',
    metadata: { plan: ['pro', 'free'] },
    period: '2h',
  });
  expect(createBulkAction.body.safeParse({ action: 'cancel', filter }).success).toBe(true);
});

test('covers the seven days of the list by default', () => {
  expect(bulkFilterOf({})).toEqual({ period: '7d' });
});
