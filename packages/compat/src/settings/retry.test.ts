import { retryPolicy } from '@millrace/contract/runner';
import { expect, test } from 'vitest';
import { retryPolicyOf } from './retry.ts';

test.each([
  [{ maxAttempts: 0 }, { maxAttempts: 1 }],
  [
    { maxAttempts: 3, factor: 0.5, minTimeoutInMs: -1, maxTimeoutInMs: 10.4 },
    { maxAttempts: 3, factor: 1, minTimeoutInMs: 0, maxTimeoutInMs: 10 },
  ],
  [
    { maxAttempts: Number.POSITIVE_INFINITY, randomize: false },
    { maxAttempts: 1_000, randomize: false },
  ],
  [{ maxAttempts: 'many', outOfMemory: { machine: 'large-1x' } }, { outOfMemory: { machine: 'large-1x' } }],
])('converts the retry options %j to %j', (options, policy) => {
  expect(retryPolicyOf(options)).toEqual(policy);
  expect(retryPolicy.parse(policy)).toEqual(policy);
});
