import { defineConfig } from 'vitest/config';
import { sourceAliases } from '../../build/source-aliases.ts';

// A process for each file, unlike the other tests of the repository: the kit moves `Date` and sets variables of its process.
export default defineConfig({
  resolve: { alias: sourceAliases() },
  test: { include: ['src/**/*.test.ts'], testTimeout: 60_000, hookTimeout: 60_000 },
});
