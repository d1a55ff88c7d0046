/** The embedded PostgreSQL, for `@millrace/testing`. */
export { DataFolderInUse } from '@millrace/platform';
export { startPostgres } from '@millrace/postgres';
