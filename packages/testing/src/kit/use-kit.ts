import { createTestKit, type TestKit, type TestKitOptions } from './kit.ts';

/** The hooks of a test runner. */
export interface Hooks {
  beforeAll(act: () => Promise<void>, timeoutMs: number): void;
  beforeEach(act: () => Promise<void>): void;
  afterEach(act: () => Promise<void>): void;
  afterAll(act: () => Promise<void>): void;
}

/** The first start of an installation creates a database. */
const startMs = 60_000;

function refuseShared(isShared: boolean): void {
  if (isShared)
    throw new Error(
      'Two tests of one kit run at the same time, and each needs a separate environment: write `test` instead of `test.concurrent`. Files may run in parallel.',
    );
}

/** One kit for a test file, with a new environment for each test. */
export function useKit(options: TestKitOptions, hooks: Hooks): TestKit {
  let kit: TestKit | undefined;
  let isFresh = true;
  let running = 0;
  let isShared = false;
  hooks.beforeAll(async () => {
    kit = await createTestKit(options);
  }, startMs);
  hooks.beforeEach(async () => {
    running += 1;
    isShared ||= running > 1;
    refuseShared(isShared);
    if (!isFresh) await kit?.reset();
    isFresh = false;
  });
  hooks.afterEach(async () => {
    running -= 1;
    const wasShared = isShared;
    if (running === 0) isShared = false;
    refuseShared(wasShared);
    await kit?.check();
  });
  hooks.afterAll(async () => kit?.close());
  // The kit exists when the first test starts, but this is called earlier.
  return new Proxy({} as TestKit, {
    get(_, name) {
      if (!kit) throw new Error('The test kit exists only while tests run: use it inside test(…).');
      const value: unknown = Reflect.get(kit, name, kit);
      return typeof value === 'function' ? (value.bind(kit) as unknown) : value;
    },
  });
}
