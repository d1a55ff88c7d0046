import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { maxFrameBytes, type ServerMessage } from '@millrace/contract/runner';
import { WebSocketServer } from 'ws';
import type { Authenticate } from '../auth/authenticate.ts';
import type { AccessWatcher } from '../auth/watch-access.ts';
import type { Environment, Principal } from '../auth/principal.ts';
import { isUnrestricted } from '../auth/scopes.ts';
import { asProblem, forbidden, MisusedCredential, Problem } from '../problem.ts';
import { failureHeaders } from '../failure-headers.ts';
import type { BadCredentialLimit } from './bad-credentials.ts';
import { belowBase } from './base-url.ts';
import { hasSingleHost, conflictingHosts } from './host-header.ts';
import type { UnauthenticatedConnections } from './unauthenticated-connections.ts';

const path = '/runner/v1/connect';
/**
 * Maximum bytes read from one connection but not processed yet. Above this limit, reading stops until half of them have been processed, as
 * backpressure for the runner.
 */
export const maxUndoneBytes = 8 * 1024 * 1024;

/** Serves one open connection. */
export interface SocketServing {
  /** Returns a promise if processing is asynchronous; it resolves when the frame has been processed, and never rejects. */
  receive(data: Uint8Array): Promise<void> | undefined;
  /** Reading is paused, or resumed. */
  unread(isUnread: boolean): void;
  /** The socket has closed, with this code. */
  ended(code: number): void;
}

export type ServeSocket = (
  environment: Environment,
  socket: { send(message: ServerMessage): void; close(): void },
) => Promise<SocketServing>;

export interface RunnerSockets {
  /** Terminates every connection without the closing handshake, so that runners reconnect. */
  stop(): void;
}

/** Accepts runners' WebSockets on the HTTP server's port. They need an unrestricted secret key. */
export function acceptRunners(
  server: Server,
  authenticate: Authenticate,
  {
    access,
    unauthenticated,
    badCredentials,
    pingMs,
    basePath = '',
  }: {
    access: Pick<AccessWatcher, 'watch'>;
    unauthenticated: Pick<UnauthenticatedConnections, 'forget'>;
    badCredentials: BadCredentialLimit;
    /** A peer that sends nothing between two pings, not even a pong, is considered gone. */
    pingMs: number;
    basePath?: string | undefined;
  },
  serve: ServeSocket,
): RunnerSockets {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: maxFrameBytes,
    perMessageDeflate: false,
  });

  server.on('upgrade', (request: IncomingMessage, duplex: Duplex, head: Buffer) => {
    duplex.on('error', () => duplex.destroy());
    if (!hasSingleHost(request.rawHeaders, request.url)) return refuse(duplex, conflictingHosts());
    if (belowBase(request.url ?? '', basePath).split('?')[0] !== path)
      return refuse(duplex, new Problem('route_not_found', 'Not found'));
    void admit(request, authenticate)
      .then((principal) => {
        sockets.handleUpgrade(request, duplex, head, (socket) => {
          unauthenticated.forget(duplex);
          // Frames that arrive before `serve` is ready.
          const early: Buffer[] = [];
          let undoneBytes = 0;
          let serving: SocketServing | undefined;
          // Any byte shows that the peer is alive, because its pong may be queued behind megabytes of earlier frames.
          let readAtPing: number | undefined;
          const ping = setInterval(() => {
            const { bytesRead } = request.socket;
            if (!socket.isPaused && bytesRead === readAtPing) return socket.terminate();
            readAtPing = socket.isPaused ? undefined : bytesRead;
            socket.ping();
          }, pingMs);
          // A revoked key or an archived branch ends the connection as promptly as it ends requests.
          const endAccess = access.watch(principal, () => socket.terminate());
          const release = (bytes: number): void => {
            undoneBytes -= bytes;
            if (!socket.isPaused || undoneBytes > maxUndoneBytes / 2) return;
            readAtPing = undefined;
            socket.resume();
            serving?.unread(false);
          };
          const receive = (to: SocketServing, data: Buffer): void => {
            const dealtWith = to.receive(data);
            if (dealtWith) void dealtWith.then(() => release(data.length));
            else release(data.length);
          };
          socket.on('message', (data: Buffer) => {
            undoneBytes += data.length;
            if (undoneBytes > maxUndoneBytes && !socket.isPaused) {
              socket.pause();
              serving?.unread(true);
            }
            if (serving) receive(serving, data);
            else early.push(data);
          });
          socket.on('error', () => socket.terminate());
          let closedWith: number | undefined;
          socket.on('close', (code) => {
            closedWith = code;
            clearInterval(ping);
            endAccess();
            serving?.ended(code);
          });
          const send = (message: ServerMessage): void => socket.send(JSON.stringify(message));
          serve(principal.environment, { send, close: () => socket.close() }).then(
            (ready) => {
              serving = ready;
              if (socket.isPaused) ready.unread(true);
              for (const data of early.splice(0)) receive(ready, data);
              if (closedWith !== undefined) ready.ended(closedWith);
            },
            () => socket.terminate(),
          );
        });
      })
      .catch((error: unknown) => {
        const refusal = badCredentials(error, request.socket.remoteAddress ?? '', () => {});
        refuse(duplex, asProblem(refusal) ?? new Problem('internal_error', 'Internal Server Error'));
      });
  });

  return {
    stop() {
      for (const client of sockets.clients) client.terminate();
      sockets.close();
    },
  };
}

type RunnerPrincipal = Extract<Principal, { kind: 'secretKey' }>;

async function admit(request: IncomingMessage, authenticate: Authenticate): Promise<RunnerPrincipal> {
  const header = (name: string): string | undefined => {
    const value = request.headers[name];
    return typeof value === 'string' ? value : undefined;
  };
  const branches = {
    serviceBranch: header('x-service-branch'),
    triggerBranch: header('x-trigger-branch'),
  };
  const principal = await authenticate({
    authorization: header('authorization'),
    ...branches,
    // A preview runner without a branch receives the list of branches.
    wholeEnvironment: Object.values(branches).every((branch) => branch === undefined),
  });
  if (principal.kind !== 'secretKey' || principal.attempt)
    throw new MisusedCredential('Invalid API key: a runner must connect with a secret key');
  if (!isUnrestricted(principal.scopes)) throw forbidden();
  return principal;
}

function refuse(duplex: Duplex, { code, status, message }: Problem): void {
  const body = JSON.stringify({ error: message });
  const headers = Object.entries(failureHeaders(code, message, status)).map(
    (header) => `${header.join(': ')}\r\n`,
  );
  duplex.end(
    `HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Type: application/json\r\n` +
      `${headers.join('')}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
