import type { Server } from 'node:http';
import type { Http2Server } from 'node:http2';
import type { Socket } from 'node:net';

/** What HTTP/2 without TLS begins with, and no request of HTTP/1.1 does. */
const preface = 'PRI';
const silentMs = 60_000;

/**
 * Lets one port serve both: a connection that begins with the preface of HTTP/2 goes to `http2`, any other stays. Answers how to
 * end connections that have not said anything yet.
 */
export function serveBoth(http: Server, http2: Http2Server): { stop(): void } {
  const [stay] = http.listeners('connection') as ((socket: Socket) => void)[];
  if (!stay) throw new TypeError('The HTTP server takes no connections.');
  http.removeListener('connection', stay);
  const silent = new Set<Socket>();

  http.on('connection', (socket: Socket) => {
    silent.add(socket);
    const tooLong = (): void => void socket.destroy();
    const gone = (): void => void silent.delete(socket);
    socket.setTimeout(silentMs, tooLong);
    socket.once('close', gone);
    socket.once('error', tooLong);
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
      socket.setTimeout(0);
      socket.off('timeout', tooLong);
      socket.off('close', gone);
      socket.off('error', tooLong);
      socket.unshift(first);
      if (maybe) http2.emit('connection', socket);
      else stay.call(http, socket);
    };
    socket.once('readable', look);
  });

  return {
    stop() {
      for (const socket of silent) socket.destroy();
    },
  };
}
