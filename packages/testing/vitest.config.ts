import { defineConfig } from 'vitest/config';
import { sourceAliases } from '../../build/source-aliases.ts';

// A process for each file, unlike the other tests in the repository, because the kit shifts `Date` and sets environment variables.
export default defineConfig({
  resolve: { alias: sourceAliases() },
  test: { include: ['src/**/*.test.ts'], testTimeout: 60_000, hookTimeout: 60_000 },
});
