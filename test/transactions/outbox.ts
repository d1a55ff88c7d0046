import { connect, type Database, type Sql } from '../../packages/server/src/db/connect.ts';
import { environmentOfOutbox, outboxSql } from '../../packages/server/src/outbox/rows.ts';
import type { TestServer } from '../support/server.ts';

/** The parts of a database URL, as drivers accept them. */
export type Pieces = Exclude<Database, string>;

export const piecesOf = (database: Database): Pieces => {
  if (typeof database !== 'string') return database;
  const { hostname, port, pathname, username, password } = new URL(database);
  return {
    host: decodeURIComponent(hostname),
    port: Number(port || 5432),
    database: pathname.slice(1),
    username: decodeURIComponent(username),
    password: decodeURIComponent(password),
  };
};

/** Installs an outbox of the server's prod environment in a database. */
export async function installOutbox(server: TestServer, sql: Sql): Promise<string> {
  const { body } = await server.ask('/api/v1/whoami');
  const environment: string = body.environment.id;
  await sql.unsafe(await outboxSql(environment));
  if ((await environmentOfOutbox(sql)) !== environment)
    throw new Error('The outbox belongs to another environment.');
  return environment;
}

export const open = (database: Database, max = 4): Sql => connect(database, { name: 'test', max });
