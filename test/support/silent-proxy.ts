import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { acceptSockets } from './sockets.ts';

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
  const pairs = new Set<readonly [Socket, Socket]>();
  const fenced = new Set<Socket>();
  const { port, close } = await acceptSockets((client, track) => {
    if (!target) return void client.resume();
    const upstream = track(connect(target));
    const pair = [client, upstream] as const;
    pairs.add(pair);
    client.on('data', (chunk: Buffer) => pairs.has(pair) && upstream.write(chunk));
    upstream.on('data', (chunk: Buffer) => pairs.has(pair) && client.write(chunk));
    client.on('close', () => {
      if (pairs.delete(pair)) upstream.destroy();
    });
    upstream.on('close', () => pairs.has(pair) && client.destroy());
  });
  return {
    port,
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
    close,
  };
}
