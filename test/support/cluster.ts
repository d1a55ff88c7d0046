import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import type { Database, Sql } from '../../packages/server/src/db/connect.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL at which a test requests the cluster of this run. */
    clusterAddress: string;
  }
}

/** The PostgreSQL server of this run, and its migrated database that tests clone. */
export interface Cluster {
  admin: Database;
  template: string;
  /** The prefix of the database names of this run. The end of the run drops the remaining ones. */
  prefix: string;
}

interface StartedCluster extends Cluster {
  stop(): Promise<void>;
}

/**
 * One PostgreSQL for a whole vitest run: the server of DATABASE_URL, else an embedded one in a temporary folder. It is
 * started, and its template migrated, at the first request of a test, so that a run without databases does not start one. Requests
 * use HTTP because workers share nothing else with this process.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let cluster: Promise<StartedCluster> | undefined;
  const server = createServer((_, response) => {
    cluster ??= startCluster();
    cluster.then(
      ({ admin, template, prefix }) =>
        response.end(JSON.stringify({ admin, template, prefix } satisfies Cluster)),
      (error: Error) => response.writeHead(500).end(error.stack),
    );
  });
  project.provide('clusterAddress', await listen(server));
  return async () => {
    server.close();
    server.closeAllConnections();
    await (await cluster)?.stop();
  };
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function startCluster(): Promise<StartedCluster> {
  const { admin, stop } = await startServer();
  const { connect } = await import('../../packages/server/src/db/connect.ts');
  const { migrate } = await import('../../packages/server/src/db/migrate.ts');
  // A unique name, because two runs may share the server of one DATABASE_URL.
  const run = randomBytes(4).toString('hex');
  const template = `millrace_template_${run}`;
  const prefix = `millrace_test_${run}_`;
  const sql = connect(admin, { name: 'millrace-tests', max: 1 });
  try {
    await sql.unsafe(`create database ${template}`);
    const inTemplate = connect(withDatabase(admin, template), { name: 'millrace-tests' });
    // A database with open sessions cannot be cloned.
    await migrate(inTemplate).finally(() => inTemplate.end());
    await writeCatalogueCache(connect(withDatabase(admin, template), { name: 'millrace-tests', max: 1 }));
  } catch (error) {
    await sql.unsafe(`drop database if exists ${template} with (force)`).catch(() => {});
    await sql.end({ timeout: 1 });
    await stop();
    throw error;
  }
  return {
    admin,
    template,
    prefix,
    stop: async () => {
      const left = await sql<{ name: string }[]>`
        select datname as name from pg_database where starts_with(datname, ${prefix})`;
      for (const { name } of left) await sql.unsafe(`drop database if exists ${name} with (force)`);
      await sql.unsafe(`drop database ${template} with (force)`);
      await sql.end({ timeout: 1 });
      await stop();
    },
  };
}

/**
 * The first session after a migration writes PostgreSQL's cache of the catalogue (`pg_internal.init`), which clones then have. Without it the
 * dozen sessions of each server that a test starts read the catalogue themselves: a third of PostgreSQL's work for such a start.
 */
const writeCatalogueCache = (sql: Sql): Promise<unknown> => sql`select`.finally(() => sql.end());

async function startServer(): Promise<{ admin: Database; stop: () => Promise<void> }> {
  const url = process.env['DATABASE_URL'];
  if (url) return { admin: url, stop: async () => {} };
  const { startPostgres } = await import('../../packages/postgres/src/cluster/index.ts');
  const folder = await mkdtemp(join(tmpdir(), 'millrace-tests-'));
  const running = await startPostgres({
    dataDir: folder,
    // No data outlives the run, so it need not survive a power failure. Fault tests do not use this cluster.
    settings: { fsync: 'off', full_page_writes: 'off', max_connections: '300' },
  });
  return {
    admin: running.connection,
    stop: async () => {
      await running.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The connection to another database of the same server. */
export function withDatabase(server: Database, name: string): Database {
  if (typeof server !== 'string') return { ...server, database: name };
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
