import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { LOOPBACK } from './listening.ts';

const TRIES = 5;

/** A port of this machine on which nothing currently listens. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, LOOPBACK);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Starts a server on a free port. If another process takes the port first, another one is tried. */
export async function startOnFreePort<T>(
  start: (port: number) => Promise<T>,
  choose: () => Promise<number> = freePort,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await start(await choose());
    } catch (error) {
      const isTaken = error instanceof Error && error.message.includes('could not create any TCP/IP sockets');
      if (!isTaken || tries === TRIES) throw error;
    }
  }
}
