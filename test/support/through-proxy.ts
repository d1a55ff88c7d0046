import type { NetConnectOpts } from 'node:net';
import type { Database } from '../../packages/server/src/db/connect.ts';

/** The address of the PostgreSQL of a database, for a proxy. */
export function targetOf(database: Database): NetConnectOpts {
  if (typeof database !== 'string') {
    const { host, port = 5_432 } = database;
    return host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
  }
  const { hostname, port } = new URL(database);
  return { host: hostname, port: Number(port || 5_432) };
}

/** The same database through a proxy on this machine. */
export function through(database: Database, port: number): Database {
  if (typeof database !== 'string') return { ...database, host: '127.0.0.1', port };
  const url = new URL(database);
  url.host = `127.0.0.1:${port}`;
  return url.href;
}
