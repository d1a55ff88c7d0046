import {
  connect,
  createServer,
  type AddressInfo,
  type NetConnectOpts,
  type Server,
  type Socket,
} from 'node:net';

/** `html`: the proxy's own error page. `refuse`: no listener. `hang`: no bytes pass. `reset`: connections are reset. */
export type Outage = 'html' | 'refuse' | 'hang' | 'reset';

/** A proxy in front of a server that can behave as if no server were available. */
export interface OutageProxy {
  readonly url: string;
  readonly port: number;
  begin(outage: Outage): Promise<void>;
  end(): Promise<void>;
  close(): Promise<void>;
}

const page = '<html><body><h1>503 Service Unavailable</h1>\nNo server is available.\n</body></html>\n';
const pageResponse =
  `HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/html\r\ncontent-length: ${page.length}\r\n` +
  `connection: close\r\n\r\n${page}`;

export async function startOutageProxy(to: NetConnectOpts): Promise<OutageProxy> {
  let outage: Outage | undefined;
  const clients = new Set<Socket>();

  function accept(client: Socket): void {
    clients.add(client);
    client.on('error', () => client.destroy());
    client.on('close', () => clients.delete(client));
    if (outage === 'hang') return;
    if (outage === 'reset') return void client.resetAndDestroy();
    if (outage === 'html') return void client.once('data', () => client.end(pageResponse));
    const upstream = connect(to);
    upstream.on('error', () => client.destroy());
    client.on('close', () => upstream.destroy());
    client.pipe(upstream).pipe(client);
  }

  const listen = (port: number): Promise<Server> =>
    new Promise((resolve) => {
      const server = createServer(accept);
      server.listen(port, '127.0.0.1', () => resolve(server));
    });
  const stop = (server: Server): Promise<unknown> => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const client of clients) client.destroy();
    return closed;
  };

  let server = await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    async begin(kind) {
      outage = kind;
      if (kind === 'refuse') return void (await stop(server));
      for (const client of clients) {
        if (kind === 'hang') client.unpipe().pause();
        else client.resetAndDestroy();
      }
    },
    async end() {
      const had = outage;
      outage = undefined;
      if (had === 'refuse') server = await listen(port);
      for (const client of clients) client.destroy();
    },
    close: async () => void (await stop(server)),
  };
}
