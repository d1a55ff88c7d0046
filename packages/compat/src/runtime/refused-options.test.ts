import { expect, test } from 'vitest';
import { refusedOptions } from './refused-options.ts';

const trigger = '/api/v1/tasks/a/trigger';

test('a trigger with limits of its own is rejected, and others are sent', async () => {
  const rejected = refusedOptions(trigger, '{"payload":"{}","options":{"concurrency":["paid"]}}');
  expect(rejected?.status).toBe(422);
  expect(await rejected?.text()).toContain('option concurrency of trigger: not supported by Millrace: ');
  expect(refusedOptions(trigger, '{"payload":{"concurrency":1},"options":{}}')).toBeUndefined();
  expect(refusedOptions(trigger, '{"payload":1}')).toBeUndefined();
  expect(refusedOptions('/api/v1/runs', '{"options":{"concurrency":1}}')).toBeUndefined();
});
