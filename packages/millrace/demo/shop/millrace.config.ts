import { defineConfig } from 'millrace';

export default defineConfig({
  dirs: ['./tasks'],
  retry: { maxAttempts: 3, minTimeoutInMs: 250, maxTimeoutInMs: 2_000 },
});
