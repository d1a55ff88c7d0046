import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Tracks connections that have not sent a request yet: browsers and connection pools open connections in advance. `server.close()` would
 * wait until they time out. Returns a function that closes them.
 */
export function trackUnusedConnections(server: Server): () => void {
  const unused = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  const used = ({ socket }: IncomingMessage): void => void unused.delete(socket);
  server.on('request', used);
  server.on('upgrade', used);
  return () => {
    for (const socket of unused) socket.destroy();
  };
}
