import type { Server } from 'node:http';
import type { Http2Server } from 'node:http2';
import type { Socket } from 'node:net';
import type { UnprovenConnections } from './unproven.ts';

/** What HTTP/2 without TLS begins with, and no request of HTTP/1.1 does. */
const preface = 'PRI';

/**
 * Lets one port serve both: a connection that begins with the preface of HTTP/2 goes to `http2`, any other stays. Answers how to
 * end connections that have not said anything yet.
 */
export function serveBoth(http: Server, http2: Http2Server, unproven: UnprovenConnections): { stop(): void } {
  const [stay] = http.listeners('connection') as ((socket: Socket) => void)[];
  if (!stay) throw new TypeError('The HTTP server takes no connections.');
  http.removeListener('connection', stay);
  const silent = new Set<Socket>();

  http.on('connection', (socket: Socket) => {
    silent.add(socket);
    unproven.opened(socket);
    const failed = (): void => void socket.destroy();
    socket.once('close', () => {
      silent.delete(socket);
      unproven.forget(socket);
    });
    socket.once('error', failed);
    let first = Buffer.alloc(0);
    const look = (): void => {
      const chunk = socket.read() as Buffer | null;
      // It closed without another word.
      if (chunk === null) return void socket.destroy();
      first = Buffer.concat([first, chunk]);
      const says = first.toString('latin1', 0, preface.length);
      const maybe = preface.startsWith(says);
      if (maybe && says.length < preface.length) return void socket.once('readable', look);
      silent.delete(socket);
      socket.off('error', failed);
      socket.unshift(first);
      if (!maybe) {
        stay.call(http, socket);
        return;
      }
      // From here on the connection is known by its session.
      unproven.forget(socket);
      http2.emit('connection', socket);
    };
    socket.once('readable', look);
  });

  return {
    stop() {
      for (const socket of silent) socket.destroy();
    },
  };
}
