import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** What stands in front of several servers: one address, and each connection goes to the next server. */
export interface Balancer {
  readonly url: string;
  /** Where new connections go, by address. Those that are open stay. */
  targets: readonly string[];
  close(): Promise<void>;
}

export async function startBalancer(targets: readonly string[]): Promise<Balancer> {
  const sockets = new Set<Socket>();
  let next = 0;
  const proxy = createServer((client) => {
    next += 1;
    const target = balancer.targets[next % balancer.targets.length];
    const upstream = connect(Number(target === undefined ? 0 : new URL(target).port), '127.0.0.1');
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
  const balancer: Balancer = {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    targets,
    async close() {
      const closed = new Promise((resolve) => proxy.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  return balancer;
}
