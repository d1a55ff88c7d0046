import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { acceptSockets, joinSockets, type Track } from './sockets.ts';

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

  function accept(client: Socket, track: Track): void {
    if (outage === 'hang') return;
    if (outage === 'reset') return void client.resetAndDestroy();
    if (outage === 'html') return void client.once('data', () => client.end(pageResponse));
    joinSockets(client, track(connect(to)));
  }

  let sockets = await acceptSockets(accept);
  const { port } = sockets;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    async begin(kind) {
      outage = kind;
      if (kind === 'refuse') return sockets.close();
      for (const client of sockets.clients) {
        if (kind === 'hang') client.unpipe().pause();
        else client.resetAndDestroy();
      }
    },
    async end() {
      const had = outage;
      outage = undefined;
      if (had === 'refuse') sockets = await acceptSockets(accept, port);
      for (const client of sockets.clients) client.destroy();
    },
    close: () => sockets.close(),
  };
}
