import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { connect, type Database, type Sql } from '../../packages/server/src/db/connect.ts';
import { withDatabase, type Cluster } from './cluster.ts';

export interface TestDatabase {
  /** Connection options for `connect()` or for a server. */
  connection: Database;
  /** Drops the database and ends its remaining sessions. */
  drop(): Promise<void>;
}

/** A new migrated database, cloned from the template of this run. Usually one per test file. */
export async function testDatabase(): Promise<TestDatabase> {
  const { admin, template, prefix } = await cluster();
  const name = `${prefix}${randomBytes(6).toString('hex')}`;
  await once(admin, (sql) => sql.unsafe(`create database ${name} template ${template} strategy file_copy`));
  return {
    connection: withDatabase(admin, name),
    drop: () => once(admin, (sql) => sql.unsafe(`drop database if exists ${name} with (force)`)),
  };
}

/** A new database without migrations. */
export async function emptyDatabase(): Promise<TestDatabase> {
  const database = await testDatabase();
  await once(database.connection, (sql) => sql.unsafe('drop schema public cascade; create schema public'));
  return database;
}

let pending: Promise<Cluster> | undefined;

/** Requested once per worker: a connection kept alive for the next request may be closed by then. */
const cluster = (): Promise<Cluster> => (pending ??= askForCluster());

async function askForCluster(): Promise<Cluster> {
  const response = await fetch(inject('clusterAddress'));
  if (!response.ok) throw new Error(`The PostgreSQL of the tests did not start: ${await response.text()}`);
  return (await response.json()) as Cluster;
}

async function once(admin: Database, act: (sql: Sql) => Promise<unknown>): Promise<void> {
  const sql = connect(admin, { name: 'millrace-tests', max: 1 });
  try {
    await act(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}
