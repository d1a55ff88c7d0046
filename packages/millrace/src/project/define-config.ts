import type { ProjectConfig } from './config.ts';

/** Types a project's configuration: `export default defineConfig({ dirs: ['./jobs'] })`. */
export const defineConfig = (config: ProjectConfig): ProjectConfig => config;
