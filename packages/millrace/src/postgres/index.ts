export { lockFolder } from './folder-lock.ts';
export { processStart, processUser } from './process-start.ts';
export { runningConnection } from './running.ts';
export { startPostgres } from './start.ts';
