import { defineConfig } from 'vitest/config';

const conditions = ['millrace-source', 'node', 'import', 'module', 'default'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: ['node', 'import', 'default'] } },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts'],
    // One PostgreSQL cluster serves the whole run; each test file gets its own database cloned from a template.
    globalSetup: ['test/support/cluster.ts'],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    pool: 'forks',
  },
});
