import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

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
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const upstream = connect(nextPort(), '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => sockets.delete(socket));
    }
    client.pipe(upstream).pipe(client);
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const breakAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    breakAll,
    async close() {
      const closed = new Promise((resolve) => proxy.close(resolve));
      breakAll();
      await closed;
    },
  };
}
