import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Rejects if listening on this address would. Called before a first start creates anything, because a server that cannot listen must not
 * create secrets.
 */
export async function tryListening(host: string, port: number): Promise<void> {
  const probe = createServer();
  probe.listen(port, host);
  await once(probe, 'listening');
  probe.close();
  await once(probe, 'close');
}
