import { connect, type Sql } from '../../packages/server/src/db/connect.ts';
import { createLog } from '../../packages/server/src/logger.ts';
import { startServer, type RunningServer } from '../../packages/server/src/server.ts';
import type { Credentials } from '../../packages/server/src/tenancy/bootstrap.ts';
import { testDatabase } from './database.ts';
import { patientAdmission } from './patient-admission.ts';
import { clientOf, createTenant, masterKey, type TestServer } from './server.ts';

/** Without the log, the database and the clock, which all tests of the worker share. */
export type SharedServer = Pick<
  TestServer,
  'url' | 'port' | 'now' | 'keys' | 'projectRef' | 'personalAccessToken' | 'ask'
>;

let shared: Promise<{ readonly server: RunningServer; readonly sql: Sql }> | undefined;

/** It ends with the worker process, and its database with the run (cluster.ts). */
async function start(): Promise<{ server: RunningServer; sql: Sql }> {
  const { connection } = await testDatabase();
  const server = await startServer({
    database: connection,
    port: 0,
    masterKey,
    log: createLog({ write() {} }),
    // All tests would share the limits of one address.
    rateLimits: {},
    admissionLimits: patientAdmission,
    notificationNetworks: ['127.0.0.0/8'],
  });
  return { server, sql: connect(connection, { name: 'test', max: 1 }) };
}

interface Tenancy {
  readonly server: RunningServer;
  /** The id of this organization, to select only its rows. */
  readonly sql: Sql;
  readonly credentials: Credentials;
}

/** A new organization with a project on the server of this worker. */
export async function newTenancy(): Promise<Tenancy> {
  shared ??= start();
  const { server, sql } = await shared;
  return { server, sql, credentials: await createTenant(sql) };
}

/**
 * The server of this worker, for a new organization with a project: starting one costs a hundred times as much. Tests that read the log
 * or tables, kill, restart or configure the server, move its clock, or run its jobs by hand start their own: `testServer()`.
 */
export async function sharedServer(): Promise<SharedServer> {
  const { server, credentials } = await newTenancy();
  const { url, port, now } = server;
  return { url, port, now, ...clientOf(url, credentials) };
}
