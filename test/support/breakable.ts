import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Breakable {
  readonly url: string;
  /** Breaks every connection; new ones are taken. */
  breakAll(): void;
  /** From now on connections lead there. */
  lead(port: number): void;
}

/** A way to a server that can be broken, and led to another server, until the test ends. */
export async function breakable(port: number): Promise<Breakable> {
  let to = port;
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const upstream = connect(to, '127.0.0.1');
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
  onTestFinished(() => {
    proxy.close();
    breakAll();
  });
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    breakAll,
    lead: (next) => void (to = next),
  };
}
