export { startRunner } from './start.ts';
export type { Runner, RunnerEvents, RunnerOptions, VersionEvent } from './options.ts';
