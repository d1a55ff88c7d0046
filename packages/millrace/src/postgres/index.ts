export { DataFolderInUse, EmbeddedPostgresError } from './errors.ts';
export { startPostgres } from './start.ts';
export type { PostgresConnection, PostgresEnd, RunningPostgres, StartPostgres } from './start.ts';
