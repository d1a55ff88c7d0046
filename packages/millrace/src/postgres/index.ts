export { ownFolder } from './own-folder.ts';
export { processBirth, processUser } from './process-birth.ts';
export { runningConnection } from './running.ts';
export { startPostgres } from './start.ts';
