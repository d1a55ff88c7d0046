/** A server on an embedded PostgreSQL, in this process, with all data in a temporary folder. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../../packages/postgres/src/cluster/index.ts';
import { masterKeyOf } from '../../packages/server/src/auth/seal.ts';
import { createLog } from '../../packages/server/src/logger.ts';
import { startServer, type RunningServer } from '../../packages/server/src/server.ts';

export interface LocalServer {
  readonly server: RunningServer;
  /** The secret key of prod. */
  readonly key: string;
  /** The connection of the database. */
  readonly connection: Awaited<ReturnType<typeof startPostgres>>['connection'];
  /** Removed at the end. */
  readonly folder: string;
  stop(): Promise<void>;
}

export async function startLocalServer(): Promise<LocalServer> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  const postgres = await startPostgres({ dataDir: join(folder, 'postgres') });
  const server = await startServer({
    database: postgres.connection,
    port: 0,
    masterKey: masterKeyOf(Buffer.alloc(32, 1)),
    log: createLog(process.stderr, 'warn'),
  });
  return {
    server,
    key: server.credentials?.environments.prod.secretKey ?? '',
    connection: postgres.connection,
    folder,
    async stop() {
      await server.close();
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
