import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DATABASE, USERNAME } from './initialise.ts';
import type { PostgresConnection } from './start.ts';

/** How to reach the server that another process runs on a data folder, as the server itself wrote it down; undefined if none does. */
export async function runningConnection(dataDir: string): Promise<PostgresConnection | undefined> {
  const text = await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '');
  const [pid = '', , , port, folder] = text.split('\n');
  // Where its user may not cross the folders above, the server was handed the folder itself, by a name that is good in it alone.
  const host = folder?.replace(/^\/proc\/self\//, `/proc/${pid}/`);
  if (!host || !port) return undefined;
  return { host, port: Number(port), database: DATABASE, username: USERNAME };
}
