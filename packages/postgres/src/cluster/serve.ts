import { rm } from 'node:fs/promises';
import type { Ways } from '@millrace/platform';
import { writeAccessRules } from './access-rules.ts';
import { portConnection, socketConnection, type PostgresConnection } from './connection.ts';
import { startOnFreePort } from './free-port.ts';
import type { Launch } from './launch.ts';
import { ensurePassword } from './password.ts';
import { makeSocketFolder } from './socket-folder.ts';
import { supervise, type Supervised } from './supervise.ts';

export interface Serve extends Omit<Launch, 'listening'> {
  dataFolder: string;
  ways: Ways;
  /** For a server on a port. Default: a free one. */
  choosePort?: (() => Promise<number>) | undefined;
}

/** A supervised server and the only way to connect to it. */
export interface Served extends Supervised {
  connection: PostgresConnection;
}

/** Starts the server of a cluster so that only the owner of the data folder can connect. */
export function serve(options: Serve): Promise<Served> {
  return options.ways === 'unix' ? serveSocket(options) : servePort(options);
}

async function serveSocket({ dataFolder, ...options }: Serve): Promise<Served> {
  const { clusterFolder, user } = options;
  await writeAccessRules(clusterFolder, user, 'socket');
  const folder = await makeSocketFolder(dataFolder, user);
  const { stop, exited } = await supervise({ ...options, listening: { via: 'socket', folder } });
  const removed = exited.then(async (end) => {
    await rm(folder, { recursive: true, force: true });
    return end;
  });
  return { stop, exited: removed, connection: socketConnection(folder) };
}

async function servePort(options: Serve): Promise<Served> {
  const { clusterFolder, user, choosePort } = options;
  const password = await ensurePassword(options);
  await writeAccessRules(clusterFolder, user, 'port');
  return startOnFreePort(async (port) => {
    const supervised = await supervise({ ...options, listening: { via: 'port', port } });
    return { ...supervised, connection: portConnection(port, password) };
  }, choosePort);
}
