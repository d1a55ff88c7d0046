import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import type { TestKit, TestKitOptions } from './kit/kit.ts';
import { useKit } from './kit/use-kit.ts';
import { matchers, type TaskMatchers } from './matchers/expect.ts';

declare module 'vitest' {
  // oxlint-disable-next-line typescript/no-empty-object-type, typescript/no-unused-vars, typescript/no-explicit-any -- the parameters are those of vitest's own
  interface Matchers<T = any> extends TaskMatchers {}
}

/**
 * Connects the tests of this file to the engine, with a new environment for each of them, and adds matchers to `expect`. Call it at the top of
 * the file.
 *
 * @example
 * const kit = useMillrace({ tasks: [order, sendMail] });
 * test('an order sends a mail', async () => {
 *   await order.trigger({ id: 1 });
 *   await kit.drain();
 *   await expect(order).toHaveTriggered(sendMail, { order: 1 });
 * });
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
