export { loadProject } from './load.ts';
export { describeProblem } from './problem.ts';
