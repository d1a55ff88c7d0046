import { defineConfig } from 'vitest/config';
const conditions = ['millrace-source', 'node', 'import', 'module', 'default'];
export default defineConfig({ root: '/work/main', cacheDir: '/tmp/rt/vite', resolve: { conditions }, ssr: { resolve: { conditions, externalConditions: ['node', 'import', 'default'] } }, test: { include: ['packages/*/src/**/*.test.ts'], testTimeout: 20000, pool: 'forks' } });
