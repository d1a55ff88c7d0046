import { startTcpProxy } from '../support/tcp-proxy.ts';

/** A load balancer in front of several servers: one address, and each connection goes to the next server. */
export interface Balancer {
  readonly url: string;
  /** Sets the addresses of the servers for new connections. Open connections are kept. */
  targets: readonly string[];
  close(): Promise<void>;
}

export async function startBalancer(targets: readonly string[]): Promise<Balancer> {
  let next = 0;
  const { url, close } = await startTcpProxy(() => {
    next += 1;
    const target = balancer.targets[next % balancer.targets.length];
    return Number(target === undefined ? 0 : new URL(target).port);
  });
  const balancer: Balancer = { url, targets, close };
  return balancer;
}
