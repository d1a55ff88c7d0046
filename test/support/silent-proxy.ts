import { connect, createServer, type AddressInfo, type NetConnectOpts, type Socket } from 'node:net';

/** A proxy to PostgreSQL that can stop responding, as a host does that loses power: neither FIN nor RST, and no reply. */
export interface SilentProxy {
  readonly port: number;
  /** Open and new connections stay open and discard all data. `lead` ends that for new ones. */
  fallSilent(): void;
  /** Only the connection that was opened first stays open and discards all data. */
  silenceFirst(): void;
  /** Routes new connections to this address. Silent ones stay silent, and their sessions end, as those of a fenced host. */
  lead(target: NetConnectOpts): void;
  /** Resets every connection, as a kernel does for a killed process. */
  reset(): void;
  close(): Promise<void>;
}

export async function startSilentProxy(first: NetConnectOpts): Promise<SilentProxy> {
  let target: NetConnectOpts | undefined = first;
  const open = new Set<Socket>();
  const pairs = new Set<readonly [Socket, Socket]>();
  const fenced = new Set<Socket>();
  const track = (socket: Socket): void => {
    open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => open.delete(socket));
  };
  const server = createServer((client) => {
    track(client);
    if (!target) return void client.resume();
    const upstream = connect(target);
    track(upstream);
    const pair = [client, upstream] as const;
    pairs.add(pair);
    client.on('data', (chunk: Buffer) => pairs.has(pair) && upstream.write(chunk));
    upstream.on('data', (chunk: Buffer) => pairs.has(pair) && client.write(chunk));
    client.on('close', () => {
      if (pairs.delete(pair)) upstream.destroy();
    });
    upstream.on('close', () => pairs.has(pair) && client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    fallSilent() {
      target = undefined;
      for (const [, upstream] of pairs) fenced.add(upstream);
      pairs.clear();
    },
    silenceFirst() {
      for (const pair of pairs) {
        fenced.add(pair[1]);
        pairs.delete(pair);
        return;
      }
    },
    lead(next) {
      target = next;
      for (const upstream of fenced) upstream.destroy();
      fenced.clear();
    },
    reset() {
      for (const [client, upstream] of pairs) {
        client.resetAndDestroy();
        upstream.destroy();
      }
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

/** The address of the PostgreSQL of a database, for a proxy. */
export const targetOf = (
  database: string | { readonly host: string; readonly port?: number },
): NetConnectOpts => {
  if (typeof database !== 'string') return { path: `${database.host}/.s.PGSQL.${database.port ?? 5_432}` };
  const { hostname, port } = new URL(database);
  return { host: hostname, port: Number(port || 5_432) };
};
