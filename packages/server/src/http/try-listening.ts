import { once } from 'node:events';
import { createServer } from 'node:net';

/** Rejects as listening there would. Asked before a first start makes anything: one that cannot serve must not leave secrets behind. */
export async function tryListening(host: string, port: number): Promise<void> {
  const probe = createServer();
  probe.listen(port, host);
  await once(probe, 'listening');
  probe.close();
  await once(probe, 'close');
}
