import { autovacuum } from './database/autovacuum.ts';
import { autovacuumLag } from './database/autovacuum-lag.ts';
import { bloat } from './database/bloat.ts';
import { clockSkew } from './database/clock-skew.ts';
import { collationVersion } from './database/collation-version.ts';
import { databaseWrites } from './database/database-writes.ts';
import { databaseRights } from './database/database-rights.ts';
import { extensions } from './database/extensions.ts';
import { fsync } from './database/fsync.ts';
import { fullPageWrites } from './database/full-page-writes.ts';
import { lockWaits } from './database/lock-waits.ts';
import { longTransactions } from './database/long-transactions.ts';
import { maxConnections } from './database/max-connections.ts';
import { migrations } from './database/migrations.ts';
import { migrationsPending } from './database/migrations-pending.ts';
import { postgresVersion } from './database/postgres-version.ts';
import { replicationLag } from './database/replication-lag.ts';
import { replicationSlots } from './database/replication-slots.ts';
import { statementTimeout } from './database/statement-timeout.ts';
import { synchronousCommit } from './database/synchronous-commit.ts';
import { synchronousStandbys } from './database/synchronous-standbys.ts';
import { transactionIds } from './database/transaction-ids.ts';
import { walArchiving } from './database/wal-archiving.ts';
import type { DatabaseCheck } from './database-input.ts';
import { delaysLate } from './installation/delays-late.ts';
import { paused } from './installation/paused.ts';
import { queuesWithoutRunner } from './installation/queues-without-runner.ts';
import { runnersGone } from './installation/runners-gone.ts';
import { runnersOld } from './installation/runners-old.ts';
import { runnersUnable } from './installation/runners-unable.ts';
import { schedulesLate } from './installation/schedules-late.ts';
import { storageGrowth } from './installation/storage-growth.ts';
import { webhooksFailing } from './installation/webhooks-failing.ts';
import { connectionsSilent } from './process/connections-silent.ts';
import { jobsStuck } from './process/jobs-stuck.ts';
import { runnerClocks } from './process/runner-clocks.ts';
import { notificationsMissing } from './process/notifications-missing.ts';

/** Checks of PostgreSQL. */
export const postgresChecks: readonly DatabaseCheck[] = [
  databaseWrites,
  postgresVersion,
  databaseRights,
  extensions,
  fsync,
  fullPageWrites,
  synchronousCommit,
  synchronousStandbys,
  maxConnections,
  statementTimeout,
  clockSkew,
  collationVersion,
  migrations,
  migrationsPending,
  longTransactions,
  lockWaits,
  transactionIds,
  autovacuum,
  autovacuumLag,
  bloat,
  replicationSlots,
  replicationLag,
  walArchiving,
];

/** Checks of Millrace's data in the database. */
export const installationChecks: readonly DatabaseCheck[] = [
  paused,
  schedulesLate,
  delaysLate,
  queuesWithoutRunner,
  runnersGone,
  runnersOld,
  runnersUnable,
  webhooksFailing,
  storageGrowth,
];

/** All checks that require only a connection to the database. */
export const databaseChecks: readonly DatabaseCheck[] = [...postgresChecks, ...installationChecks];

/** Checks of the server process that responds. */
export const processChecks = [jobsStuck, notificationsMissing, connectionsSilent, runnerClocks];
