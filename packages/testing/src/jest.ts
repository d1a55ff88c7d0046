import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import type { AnyTask, TaskInput } from '@millrace/sdk';
import type { TestKit, TestKitOptions } from './kit/kit.ts';
import { useKit } from './kit/use-kit.ts';
import { matchers, type TaskMatchers } from './matchers/expect.ts';

declare module 'expect' {
  // oxlint-disable-next-line typescript/no-unused-vars -- the parameters are those of jest's own
  interface Matchers<R extends void | Promise<void>, T = unknown> {
    toHaveTriggered<K extends AnyTask>(task: K, payload?: TaskInput<K>): Promise<void>;
    toHaveCompleted: TaskMatchers['toHaveCompleted'];
    toHaveFailed: TaskMatchers['toHaveFailed'];
  }
}

/**
 * Connects the tests of this file to the engine, with a new environment for each of them, and adds matchers to `expect`. Call it at the top of
 * the file. Jest needs `NODE_OPTIONS=--experimental-vm-modules`, because the Millrace packages are ES modules.
 */
export function useMillrace(options: TestKitOptions): TestKit {
  expect.extend(matchers);
  return useKit(options, {
    beforeAll: (act, timeoutMs) => beforeAll(act, timeoutMs),
    beforeEach: (act) => beforeEach(act),
    afterEach: (act) => afterEach(act),
    afterAll: (act) => afterAll(act),
  });
}

export { createTestKit } from './kit/kit.ts';
export { matchers };
export type { TestKit, TestKitOptions };
