import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Connections that have asked nothing yet: browsers and pools open them ahead of need. A server that closes takes them for requests
 * about to come and would wait for each until it times out. Answers what ends them.
 */
export function trackFreshConnections(server: Server): () => void {
  const fresh = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    fresh.add(socket);
    socket.once('close', () => fresh.delete(socket));
  });
  const spent = ({ socket }: IncomingMessage): void => void fresh.delete(socket);
  server.on('request', spent);
  server.on('upgrade', spent);
  return () => {
    for (const socket of fresh) socket.destroy();
  };
}
