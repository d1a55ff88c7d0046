import { onTestFinished } from 'vitest';
import { startTcpProxy } from './tcp-proxy.ts';

export interface Breakable {
  readonly url: string;
  /** Breaks every connection; new ones are accepted. */
  breakAll(): void;
  /** Routes new connections to this address. */
  lead(port: number): void;
}

/** A proxy to a server, whose connections can be broken and routed to another server, until the test ends. */
export async function breakable(port: number): Promise<Breakable> {
  let to = port;
  const { url, breakAll, close } = await startTcpProxy(() => to);
  onTestFinished(close);
  return { url, breakAll, lead: (next) => void (to = next) };
}
