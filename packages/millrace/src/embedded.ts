/** The embedded PostgreSQL, for `@millrace/testing`. */
export { DataFolderInUse } from './postgres/errors.ts';
export { startPostgres } from './postgres/start.ts';
