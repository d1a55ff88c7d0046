import type { Server } from 'node:http';
import type { Http2Server } from 'node:http2';
import type { Socket } from 'node:net';
import type { UnauthenticatedConnections } from './unauthenticated-connections.ts';

/** The start of the HTTP/2 connection preface. No HTTP/1.1 request begins with it. */
const preface = 'PRI';

/**
 * Serves HTTP/1.1 and HTTP/2 on one port. A connection that begins with the HTTP/2 preface goes to `http2`, any other to `http`.
 * `stop` closes connections that have not sent anything yet.
 */
export function serveHttp1AndHttp2(
  http: Server,
  http2: Http2Server,
  unauthenticated: UnauthenticatedConnections,
): { stop(): void } {
  const [serveHttp1] = http.listeners('connection') as ((socket: Socket) => void)[];
  if (!serveHttp1) throw new TypeError('The HTTP server has no connection listener.');
  http.removeListener('connection', serveHttp1);
  const silent = new Set<Socket>();

  http.on('connection', (socket: Socket) => {
    silent.add(socket);
    unauthenticated.opened(socket);
    const failed = (): void => void socket.destroy();
    socket.once('close', () => {
      silent.delete(socket);
      unauthenticated.forget(socket);
    });
    socket.once('error', failed);
    let first = Buffer.alloc(0);
    const readPreface = (): void => {
      const chunk = socket.read() as Buffer | null;
      // The connection ended.
      if (chunk === null) return void socket.destroy();
      first = Buffer.concat([first, chunk]);
      const start = first.toString('latin1', 0, preface.length);
      const isPreface = preface.startsWith(start);
      if (isPreface && start.length < preface.length) return void socket.once('readable', readPreface);
      silent.delete(socket);
      socket.off('error', failed);
      socket.unshift(first);
      if (!isPreface) {
        serveHttp1.call(http, socket);
        return;
      }
      // From this point the HTTP/2 session represents the connection.
      unauthenticated.forget(socket);
      http2.emit('connection', socket);
    };
    socket.once('readable', readPreface);
  });

  return {
    stop() {
      for (const socket of silent) socket.destroy();
    },
  };
}
