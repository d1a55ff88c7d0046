export { runningConnection } from './running.ts';
export { startPostgres } from './start.ts';
