import { createServer, type AddressInfo, type Socket } from 'node:net';

/** The connections of a local TCP server. */
export interface Sockets {
  readonly port: number;
  /** The open connections that were accepted. */
  readonly clients: ReadonlySet<Socket>;
  /** Stops accepting connections, and destroys the open ones, including those passed to `track`. */
  close(): Promise<void>;
}

export type Track = (socket: Socket) => Socket;

/** Accepts connections on a port of this machine, by default a free one. */
export async function acceptSockets(
  onClient: (client: Socket, track: Track) => void,
  port = 0,
): Promise<Sockets> {
  const clients = new Set<Socket>();
  const others = new Set<Socket>();
  const trackIn =
    (open: Set<Socket>): Track =>
    (socket) => {
      open.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => open.delete(socket));
      return socket;
    };
  const accepted = trackIn(clients);
  const track = trackIn(others);
  const server = createServer((client) => onClient(accepted(client), track));
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    clients,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of [...clients, ...others]) socket.destroy();
      await closed;
    },
  };
}

/** Passes everything on between two connections, which end together. */
export function joinSockets(client: Socket, upstream: Socket): void {
  client.pipe(upstream).pipe(client);
  client.on('close', () => upstream.destroy());
  upstream.on('close', () => client.destroy());
}
