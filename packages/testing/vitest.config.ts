import { defineConfig } from 'vitest/config';

const conditions = ['millrace-source', 'node'];

// A process for each file, unlike the other tests of the repository: the kit moves `Date` and sets variables of its process.
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: { include: ['src/**/*.test.ts'], testTimeout: 60_000, hookTimeout: 60_000 },
});
