export { defineConfig, type ProjectConfig } from './project/config.ts';
