import { defineConfig } from 'vitest/config';

// So that the configuration of the repository around the example is not used.
export default defineConfig({});
