import { connect } from 'node:net';
import { acceptSockets, joinSockets } from './sockets.ts';

/** A local TCP proxy. */
export interface TcpProxy {
  readonly url: string;
  /** Breaks every connection; new ones are accepted. */
  breakAll(): void;
  /** Stops accepting connections and breaks the open ones. */
  close(): Promise<void>;
}

/** Starts a proxy. `nextPort` returns the target port of each connection. */
export async function startTcpProxy(nextPort: () => number): Promise<TcpProxy> {
  const { port, clients, close } = await acceptSockets((client, track) =>
    joinSockets(client, track(connect(nextPort(), '127.0.0.1'))),
  );
  const breakAll = (): void => {
    for (const socket of clients) socket.destroy();
  };
  return { url: `http://127.0.0.1:${port}`, breakAll, close };
}
