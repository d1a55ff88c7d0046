import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rename, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Cluster } from './cluster.ts';
import { startInstallation, type Installation } from './installation.ts';
import { StandbyInstallation } from './standby.ts';
import {
  addressFile,
  type HostAddress,
  type HostCalls,
  type HostReply,
  type HostRequest,
} from './protocol.ts';

export interface ServeOptions {
  readonly folder: string;
  readonly cluster: Cluster;
  readonly onLog: (line: string) => void;
  /** Milliseconds without a connection after which it ends. */
  readonly idleMs: number;
}

/**
 * Serves test processes until none is connected for a while. When a process dies, its connection ends, and everything that it opened is closed.
 */
export async function serve({ folder, cluster, onLog, idleMs }: ServeOptions): Promise<void> {
  const token = randomBytes(16).toString('hex');
  const closing = new Set<Promise<unknown>>();
  let connected = 0;
  let idle!: NodeJS.Timeout;
  let end!: () => void;
  let isEnding = false;
  const ended = new Promise<void>((resolve) => {
    end = () => {
      isEnding = true;
      resolve();
    };
  });
  const waitForUsers = (): void => {
    idle = setTimeout(end, idleMs);
  };
  const standby = new StandbyInstallation(() => startInstallation(cluster, onLog));

  const server = createServer((socket) => {
    // The client connected a moment too late. Its process joins the next host.
    if (isEnding) return void socket.destroy();
    clearTimeout(idle);
    connected += 1;
    let installation: Promise<Installation> | undefined;
    const open = (): Promise<Installation> => (installation ??= standby.take());
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      connected -= 1;
      if (connected === 0) waitForUsers();
      if (installation) {
        const done: Promise<unknown> = installation
          .then((opened) => opened.close())
          .catch((error: unknown) => onLog(String(error)))
          .finally(() => closing.delete(done));
        closing.add(done);
      }
    });
    createInterface(socket).on('line', (line) => {
      const request = readRequest(line);
      // It is another program on this machine.
      if (request?.token !== token) return socket.destroy();
      return void answer(open, request).then(
        (reply) => send(socket, { id: request.id, reply }),
        (error: Error) => send(socket, { id: request.id, error: error.stack ?? String(error) }),
      );
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const address: HostAddress = { port, token, pid: process.pid };
  const draft = join(folder, `${addressFile}.${process.pid}`);
  // Any process that can read the file may use the host.
  await writeFile(draft, JSON.stringify(address), { mode: 0o600 });
  await rename(draft, join(folder, addressFile));
  waitForUsers();

  await ended;
  // A process that connects from now on starts another host.
  await rm(join(folder, addressFile), { force: true });
  server.close();
  await Promise.all(closing);
  await standby.close().catch((error: unknown) => onLog(String(error)));
}

function readRequest(line: string): HostRequest | undefined {
  try {
    return JSON.parse(line) as HostRequest;
  } catch {
    return undefined;
  }
}

const send = (socket: Socket, reply: HostReply): void => void socket.write(`${JSON.stringify(reply)}\n`);

async function answer(open: () => Promise<Installation>, { call, input }: HostRequest): Promise<unknown> {
  const installation = await open();
  if (call === 'open') {
    installation.use((input as HostCalls['open']['input']).tasks);
    return { url: installation.url };
  }
  if (call === 'project') return installation.project((input as { before?: string }).before);
  if (call === 'work') return installation.work((input as { environment: string }).environment);
  const { at, jobs } = input as { at: number; jobs: string[] };
  return installation.moveTo(at, jobs);
}
