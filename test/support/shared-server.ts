import { connect, type Sql } from '../../packages/server/src/db/connect.ts';
import { createLog } from '../../packages/server/src/logger.ts';
import { startServer, type RunningServer } from '../../packages/server/src/server.ts';
import type { Credentials } from '../../packages/server/src/tenancy/bootstrap.ts';
import { testDatabase } from './database.ts';
import { clientOf, createTenant, masterKey, type TestServer } from './server.ts';

/** Without the log, the database and the clock: those are of all tests of the worker. */
export type SharedServer = Pick<
  TestServer,
  'url' | 'port' | 'now' | 'keys' | 'projectRef' | 'personalAccessToken' | 'ask'
>;

let shared: Promise<{ readonly server: RunningServer; readonly sql: Sql }> | undefined;

/** It ends with the process of the worker, and its database with the run (cluster.ts). */
async function start(): Promise<{ server: RunningServer; sql: Sql }> {
  const { connection } = await testDatabase();
  const server = await startServer({
    database: connection,
    port: 0,
    masterKey,
    log: createLog({ write() {} }),
    // The limits of an address would be those of all tests.
    rateLimits: {},
    notificationNetworks: ['127.0.0.0/8'],
  });
  return { server, sql: connect(connection, { name: 'test', max: 1 }) };
}

interface Tenancy {
  readonly server: RunningServer;
  /** For rows of this organisation only. */
  readonly sql: Sql;
  readonly credentials: Credentials;
}

/** A new organisation with a project on the server of this worker. */
export async function newTenancy(): Promise<Tenancy> {
  shared ??= start();
  const { server, sql } = await shared;
  return { server, sql, credentials: await createTenant(sql) };
}

/**
 * The server of this worker, for a new organisation with a project: a start costs a hundred times what this does. Tests that read the log
 * or tables, kill, restart or configure the server, move its clock, or run its jobs by hand start their own: `testServer()`.
 */
export async function sharedServer(): Promise<SharedServer> {
  const { server, credentials } = await newTenancy();
  const { url, port, now } = server;
  return { url, port, now, ...clientOf(url, credentials) };
}
