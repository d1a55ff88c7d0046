export { defineConfig } from './config.ts';
export type { ProjectConfig } from './config.ts';
export { loadProject } from './load.ts';
export type { Project } from './load.ts';
export { describeProblem, ProjectError } from './problem.ts';
export type { Problem } from './problem.ts';
