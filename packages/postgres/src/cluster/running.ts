import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { portConnection, type PostgresConnection } from './connection.ts';
import { DATABASE, USERNAME } from './initialise.ts';
import { LOOPBACK } from './listening.ts';
import { readPassword } from './password.ts';

/** The connection of a server that another process runs on a data folder, read from its lock file; undefined if there is none. */
export async function runningConnection(dataDir: string): Promise<PostgresConnection | undefined> {
  const clusterFolder = join(dataDir, 'postgres');
  const text = await readFile(join(clusterFolder, 'postmaster.pid'), 'utf8').catch(() => '');
  const [pid = '', , , port, folder, address] = text.split('\n');
  if (port && folder?.trim() === '' && address?.trim() === LOOPBACK) {
    return portConnection(Number(port), await readPassword(clusterFolder));
  }
  // With folder descriptors, the recorded path is valid only inside the server process.
  const host = folder?.replace(/^\/proc\/self\//, `/proc/${pid}/`);
  if (!host || !port) return undefined;
  return { host, port: Number(port), database: DATABASE, username: USERNAME };
}
