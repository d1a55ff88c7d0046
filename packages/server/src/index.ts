export {
  isMasterKeyOf,
  MasterKeyRefused,
  parseMasterKey,
  requestNextKey,
  loadMasterKey,
  readNextKey,
  type MasterKeySource,
} from './auth/master-key.ts';
export type { MasterKey } from './auth/seal.ts';
export { copyDatabase, type CopiedDatabase, type CopyProgress } from './operations/copy/database.ts';
export { readAddress } from './db/address.ts';
export { connect, type Database, type Sql } from './db/connect.ts';
export { DatabaseRefused } from './db/errors.ts';
export { migrate } from './db/migrate.ts';
export { ping } from './db/ping.ts';
export { findRoutes } from './db/routes.ts';
export { grantSqlViews, installSqlViews, revokeSqlViews, sqlViewsText } from './db/sql-views.ts';
export { Skipped, type Check } from './operations/doctor/check.ts';
export { installationChecks, postgresChecks, processChecks } from './operations/doctor/checks.ts';
export { diagnoseDatabase, type DiagnoseOptions } from './operations/doctor/diagnose.ts';
export { runChecks } from './operations/doctor/run.ts';
export { changeKeyFile, rotateMasterKey, type Rotated } from './envvars/rotate-master-key.ts';
export { defaultRateLimits } from './http/rate-limit.ts';
export { createLog, type LogEvent, type Log } from './logger.ts';
export { readOpenWork, type OpenWork } from './operations/open-work.ts';
export { drainOutbox, OutboxRefused } from './outbox/drain.ts';
export { environmentOfOutbox, outboxSql } from './outbox/rows.ts';
export type { LeaseTimes } from './runs/dispatch/connection-state.ts';
export { startServer, type RunningServer, type ServerOptions } from './server.ts';
export { openS3Store, type S3Settings } from './versions/store/s3.ts';
export { StoreFailed, StoreRefused, type BlobStore } from './versions/store/store.ts';
export type { Credentials } from './tenancy/bootstrap.ts';
export { readBootstrapSettings, type BootstrapSettings } from './tenancy/bootstrap-settings.ts';
export { checkedEndpoint } from './http/codec-endpoint.ts';
export { signRequest } from './events/webhooks/schemes/index.ts';
