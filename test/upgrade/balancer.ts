import { startTcpProxy } from '../support/tcp-proxy.ts';

/** What stands in front of several servers: one address, and each connection goes to the next server. */
export interface Balancer {
  readonly url: string;
  /** Where new connections go, by address. Those that are open stay. */
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
