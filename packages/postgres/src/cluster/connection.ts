import { DATABASE, USERNAME } from './initialise.ts';
import { LOOPBACK, SOCKET_PORT } from './listening.ts';

/** Connection options for postgres.js: `postgres({ ...connection, max: 10 })`. */
export interface PostgresConnection {
  /** The folder of the Unix socket, or an address. */
  host: string;
  port: number;
  database: string;
  username: string;
  /** For a server on a port. A socket does not need one. */
  password?: string;
}

export const socketConnection = (folder: string): PostgresConnection => ({
  host: folder,
  port: SOCKET_PORT,
  database: DATABASE,
  username: USERNAME,
});

export const portConnection = (port: number, password: string): PostgresConnection => ({
  host: LOOPBACK,
  port,
  database: DATABASE,
  username: USERNAME,
  password,
});

/** The same as a libpq URL. */
export function urlOf({ host, port, database, username, password }: PostgresConnection): string {
  return password === undefined
    ? `postgresql://${username}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`
    : `postgresql://${username}:${password}@${host}:${port}/${database}`;
}
