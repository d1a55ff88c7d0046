import { defineConfig } from 'vitest/config';
import { sourceAliases } from './build/source-aliases.ts';

/** Their subject is processes: runners, PostgreSQL, package managers. */
const processTests = [
  'packages/millrace/src/{deploy,serve-folder}/**/*.test.ts',
  'packages/postgres/src/{backup,cluster}/**/*.test.ts',
  'packages/runner/src/runner/**/*.test.ts',
  'packages/platform/src/folder-lock.test.ts',
];

// vitest waits for one second, in which a busy machine may not draw a page or start a process.
const poll = { timeout: 30_000 };

const shared = {
  setupFiles: ['test/support/seed.ts'],
  // Longer than the time for which tests wait for a condition, whose message names the missing part.
  testTimeout: 60_000,
  hookTimeout: 60_000,
  expect: { poll },
  pool: 'forks' as const,
  // Files of one process share its modules: loading them for each file took a quarter of the processor time.
  isolate: false,
};
const resolve = { alias: sourceAliases() };

export default defineConfig({
  test: {
    // One PostgreSQL cluster serves the whole run; each test file gets its own database cloned from a template.
    globalSetup: [
      'test/support/bundles.ts',
      'test/support/temporary-folder.ts',
      'test/support/compile-cache.ts',
      'test/support/run-folder.ts',
      'test/support/cluster.ts',
    ],
    // Most tests wait for processes and databases: two cores carry three files at once, where vitest would run one.
    maxWorkers: 3,
    projects: [
      {
        resolve,
        test: {
          ...shared,
          name: 'unit',
          include: [
            'packages/*/src/**/*.test.ts',
            'packages/fingerprint/score/*.test.ts',
            'test/{architecture,prose}/**/*.test.ts',
            'faults/**/*.test.ts',
          ],
          exclude: processTests,
        },
      },
      {
        resolve,
        test: {
          ...shared,
          name: 'system',
          // Most polls send a request to a server: every 50 ms, the default, they take a tenth of a core.
          expect: { poll: { ...poll, interval: 100 } },
          include: ['test/**/*.test.ts', ...processTests],
          exclude: ['test/{architecture,prose}/**', '**/node_modules/**'],
        },
      },
    ],
  },
});
