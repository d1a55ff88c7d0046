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
export { copyDatabase, type CopiedDatabase, type CopyProgress } from './copy/database.ts';
export { connect, type Database, type Sql } from './db/connect.ts';
export { DatabaseRefused } from './db/errors.ts';
export { migrate } from './db/migrate.ts';
export { ping } from './db/ping.ts';
export { findRoutes } from './db/routes.ts';
export { Skipped, type Check } from './doctor/check.ts';
export { installationChecks, postgresChecks, processChecks } from './doctor/checks.ts';
export { diagnoseDatabase, type DiagnoseOptions } from './doctor/diagnose.ts';
export { runChecks } from './doctor/run.ts';
export { changeKeyFile, rotateMasterKey, type Rotated } from './envvars/rotate-master-key.ts';
export { defaultRateLimits } from './http/rate-limit.ts';
export { createLog, type Fact, type Log } from './logger.ts';
export { readOpenWork, type OpenWork } from './open-work/read.ts';
export { drainOutbox, OutboxRefused } from './outbox/drain.ts';
export { environmentOfOutbox, outboxSql } from './outbox/rows.ts';
export type { LeaseTimes } from './runs/dispatch/connection-state.ts';
export { startServer, type RunningServer, type ServerOptions } from './server.ts';
export type { Credentials } from './tenancy/bootstrap.ts';
export { readBootstrapSettings, type BootstrapSettings } from './tenancy/bootstrap-settings.ts';
export { checkedEndpoint } from './http/codec-endpoint.ts';
