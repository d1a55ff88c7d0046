import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DATABASE, USERNAME } from './initialise.ts';
import type { PostgresConnection } from './start.ts';

/** The connection of a server that another process runs on a data folder, read from its lock file; undefined if there is none. */
export async function runningConnection(dataDir: string): Promise<PostgresConnection | undefined> {
  const text = await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '');
  const [pid = '', , , port, folder] = text.split('\n');
  // With folder descriptors the written path is valid only inside of the server process.
  const host = folder?.replace(/^\/proc\/self\//, `/proc/${pid}/`);
  if (!host || !port) return undefined;
  return { host, port: Number(port), database: DATABASE, username: USERNAME };
}
