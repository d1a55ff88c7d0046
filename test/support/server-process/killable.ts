import { onTestFinished } from 'vitest';
import { connect, type Sql } from '../../../packages/server/src/db/connect.ts';
import { testDatabase } from '../database.ts';
import { startServerProcess, type ServerProcess, type ServerSettings } from './start.ts';

export interface KillableServers {
  readonly sql: Sql;
  /** Starts a server on the database, in a process of its own. */
  start(settings?: Omit<ServerSettings, 'database'>): Promise<ServerProcess>;
}

/** A database for servers that the test kills. Remaining ones are killed at its end. */
export async function killableServers(connections = 2): Promise<KillableServers> {
  const { connection, drop } = await testDatabase();
  const sql = connect(connection, { name: 'test', max: connections });
  const started: ServerProcess[] = [];
  onTestFinished(async () => {
    for (const { process } of started) process.kill('SIGKILL');
    await sql.end({ timeout: 1 });
    await drop();
  });
  return {
    sql,
    async start(settings) {
      const server = await startServerProcess({ database: connection, ...settings });
      started.push(server);
      return server;
    },
  };
}
