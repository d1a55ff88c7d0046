import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join as path } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { packageFolderOf } from 'millrace/in-process';
import { addressFile, type HostAddress } from '../host/protocol.ts';
import { Channel } from './channel.ts';
import { hostFolder } from './folder.ts';
import { startHost } from './start-host.ts';

const main = path(packageFolderOf(import.meta.url), 'dist/host/main.js');

/** The first start of an installation creates a database. */
const patienceMs = 60_000;

/** Connects to the host of this machine. Starts one if there is none. */
export async function joinHost(): Promise<Channel> {
  const folder = await hostFolder(main);
  const until = Date.now() + patienceMs;
  let starting: Awaited<ReturnType<typeof startHost>>;
  let failure: Error | undefined;
  try {
    for (;;) {
      const found = await connectTo(folder);
      if (found) return new Channel(found.socket, found.token);
      if (failure) throw failure;
      if (Date.now() > until) {
        throw new Error(
          `The engine of the tests did not start within ${patienceMs / 1_000} s. Read ${folder}/host.log.`,
        );
      }
      if (!starting) {
        starting = await startHost(main, folder);
        void starting?.failed.then((error) => (failure = error));
      }
      await sleep(5);
    }
  } finally {
    await starting?.done();
  }
}

async function connectTo(folder: string): Promise<{ socket: Socket; token: string } | undefined> {
  const text = await readFile(path(folder, addressFile), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const { port, token } = JSON.parse(text) as HostAddress;
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  try {
    await once(socket, 'connect');
    return { socket, token };
  } catch {
    // Left behind by a host that was killed or is stopping.
    socket.destroy();
    return undefined;
  }
}
