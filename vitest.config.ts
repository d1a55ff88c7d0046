import { defineConfig } from 'vitest/config';
import { sourceAliases } from './build/source-aliases.ts';

export default defineConfig({
  resolve: { alias: sourceAliases() },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'packages/fingerprint/score/*.test.ts', 'test/**/*.test.ts'],
    // One PostgreSQL cluster serves the whole run; each test file gets its own database cloned from a template.
    globalSetup: [
      'test/support/bundles.ts',
      'test/support/temporary-folder.ts',
      'test/support/compile-cache.ts',
      'test/support/run-folder.ts',
      'test/support/cluster.ts',
    ],
    setupFiles: ['test/support/seed.ts'],
    // Longer than what tests themselves wait for a condition: that says what was missing.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // vitest waits for one second, in which a busy machine may not draw a page or start a process.
    expect: { poll: { timeout: 30_000 } },
    pool: 'forks',
    // Files of one process share its modules: loading them for each file took a quarter of the processor time.
    isolate: false,
    // Most tests wait for processes and databases: two cores carry three files at once, where vitest would run one.
    maxWorkers: 3,
  },
});
