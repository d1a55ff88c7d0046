import { onTestFinished } from 'vitest';
import { startTcpProxy } from './tcp-proxy.ts';

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
  const { url, breakAll, close } = await startTcpProxy(() => to);
  onTestFinished(close);
  return { url, breakAll, lead: (next) => void (to = next) };
}
