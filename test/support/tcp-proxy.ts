import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A proxy of this machine that passes bytes on. */
export interface TcpProxy {
  readonly url: string;
  /** Breaks every connection; new ones are taken. */
  breakAll(): void;
  /** Takes no more connections, and breaks those that are open. */
  close(): Promise<void>;
}

/** Starts a proxy. `nextPort` is asked for each connection: the port that it leads to. */
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
