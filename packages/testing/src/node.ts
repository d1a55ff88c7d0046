import { AssertionError } from 'node:assert';
import { after, afterEach, before, beforeEach } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { AnyTask, TaskInput, TaskOutput } from '@millrace/sdk';
import type { TestKit, TestKitOptions } from './kit/kit.ts';
import { useKit } from './kit/use-kit.ts';
import { anything, completed, failed, triggered, type Verdict } from './matchers/assert.ts';

/**
 * Connects the tests of this file to the engine, with a new environment for each of them. Call it at the top of the file.
 *
 * @example
 * const kit = useMillrace({ tasks: [order, sendMail] });
 * test('an order sends a mail', async () => {
 *   await order.trigger({ id: 1 });
 *   await kit.drain();
 *   await assertTriggered(order, sendMail, { order: 1 });
 * });
 */
export const useMillrace = (options: TestKitOptions): TestKit =>
  useKit(options, {
    beforeAll: (act, timeout) => before(act, { timeout }),
    beforeEach: (act) => beforeEach(act),
    afterEach: (act) => afterEach(act),
    afterAll: (act) => after(act),
  });

/** Throws an AssertionError unless a run of the task has triggered one of the other, with this payload. */
export const assertTriggered = <T extends AnyTask>(
  task: AnyTask,
  other: T,
  ...payload: [] | [TaskInput<T>]
): Promise<void> =>
  must(triggered(task, other, payload.length > 0 ? payload[0] : anything, isDeepStrictEqual));

/** Throws an AssertionError unless a run of the task has completed, with this output. */
export const assertCompleted = <T extends AnyTask>(task: T, ...output: [] | [TaskOutput<T>]): Promise<void> =>
  must(completed(task, output.length > 0 ? output[0] : anything, isDeepStrictEqual));

/** Throws an AssertionError unless a run of the task has failed, with an error whose message contains this text or matches. */
export const assertFailed = (task: AnyTask, error?: string | RegExp): Promise<void> =>
  must(failed(task, error));

async function must(verdict: Promise<Verdict>): Promise<void> {
  const { pass, message } = await verdict;
  if (!pass) throw new AssertionError({ message: message() });
}

export { createTestKit } from './kit/kit.ts';
export type { TestKit, TestKitOptions };
