/**
 * A vitest reporter that names the tests that failed and then passed when they were retried (`--retry 1`), and fails the run if there were more
 * than two.
 *
 * One race in some thousands of tests must not reject an unrelated change, but must not be overlooked either: each test named here has a bug,
 * in itself or in the product.
 */
import type { Reporter, TestCase, TestModule } from 'vitest/node';

const maximum = 2;

export default class SecondTry implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const flaky = modules
      .flatMap((module) => [...module.children.allTests()])
      .filter((test) => test.diagnostic()?.flaky);
    if (flaky.length === 0) return;
    process.stdout.write(`\nFailed at first, passed on retry: probably a race to fix.\n`);
    for (const test of flaky)
      process.stdout.write(`  ${test.module.relativeModuleId} > ${test.fullName}\n${reasons(test)}`);
    if (flaky.length <= maximum) return;
    process.stdout.write(`More than ${maximum} such tests are a failure.\n`);
    process.exitCode = 1;
  }
}

function reasons(test: TestCase): string {
  return (test.result().errors ?? []).map(({ stack, message }) => `    ${stack ?? message}\n`).join('');
}
