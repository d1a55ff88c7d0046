import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { maxFrameBytes, type ServerMessage } from '@millrace/contract/runner';
import { WebSocketServer } from 'ws';
import type { Authenticate } from '../auth/authenticate.ts';
import type { LiveAccess } from '../auth/live-access.ts';
import type { Environment, Principal } from '../auth/principal.ts';
import { isUnrestricted } from '../auth/scopes.ts';
import { asProblem, forbidden, MisusedCredential, Problem } from '../problem.ts';
import type { RefuseCredential } from './bad-credentials.ts';
import { namesOneHost, twoHosts } from './one-host.ts';
import type { UnprovenConnections } from './unproven.ts';

const path = '/runner/v1/connect';
/** A peer that does not even answer a ping is gone, though its connection never closed. */
const pingMs = 15_000;

/**
 * Bytes of frames that were read from one connection and not dealt with yet. From here on it is not read, until half of them are: what
 * the runner has to say waits with the runner.
 */
export const maxUndoneBytes = 8 * 1024 * 1024;

/** What serves one connection once it is open. */
export interface SocketServing {
  /** Resolves, if it takes time, when the frame has been dealt with. Never rejects. */
  receive(text: string): Promise<void> | undefined;
  /** Frames of the connection are left unread for now, or no longer. */
  unread(isUnread: boolean): void;
  ended(): void;
}

export type ServeSocket = (
  environment: Environment,
  socket: { send(message: ServerMessage): void; close(): void },
) => Promise<SocketServing>;

export interface RunnerSockets {
  /** Breaks every connection, without the closing handshake: runners take it for a lost server and come back. */
  stop(): void;
}

/** Takes runners' WebSockets on the HTTP server's own port, authorised by a secret key without restrictions. */
export function acceptRunners(
  server: Server,
  authenticate: Authenticate,
  {
    access,
    unproven,
    badCredentials,
  }: {
    access: Pick<LiveAccess, 'hold'>;
    unproven: Pick<UnprovenConnections, 'forget'>;
    badCredentials: RefuseCredential;
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
    if (!namesOneHost(request.rawHeaders, request.url)) return refuse(duplex, twoHosts());
    if (request.url?.split('?')[0] !== path) return refuse(duplex, new Problem(404, 'Not found'));
    void admit(request, authenticate)
      .then((principal) => {
        sockets.handleUpgrade(request, duplex, head, (socket) => {
          unproven.forget(duplex);
          // Frames that come before the server is ready wait in order.
          const early: Buffer[] = [];
          let undoneBytes = 0;
          let serving: SocketServing | undefined;
          let silent = false;
          const ping = setInterval(() => {
            // A pong that we do not read is no silence.
            if (silent && !socket.isPaused) return socket.terminate();
            silent = true;
            socket.ping();
          }, pingMs);
          // A key that is revoked, or a branch that is archived, is out here as soon as for requests.
          const endAccess = access.hold(principal, () => socket.terminate());
          socket.on('pong', () => (silent = false));
          const release = (bytes: number): void => {
            undoneBytes -= bytes;
            if (!socket.isPaused || undoneBytes > maxUndoneBytes / 2) return;
            silent = false;
            socket.resume();
            serving?.unread(false);
          };
          const receive = (to: SocketServing, data: Buffer): void => {
            const dealtWith = to.receive(data.toString('utf8'));
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
          let closed = false;
          socket.on('close', () => {
            closed = true;
            clearInterval(ping);
            endAccess();
            serving?.ended();
          });
          const send = (message: ServerMessage): void => socket.send(JSON.stringify(message));
          serve(principal.environment, { send, close: () => socket.close() }).then(
            (ready) => {
              serving = ready;
              if (socket.isPaused) ready.unread(true);
              for (const data of early.splice(0)) receive(ready, data);
              if (closed) ready.ended();
            },
            () => socket.terminate(),
          );
        });
      })
      .catch((error: unknown) => {
        const refusal = badCredentials(error, request.socket.remoteAddress ?? '', () => {});
        refuse(duplex, asProblem(refusal) ?? new Problem(500, 'Internal Server Error'));
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
  const principal = await authenticate({
    authorization: header('authorization'),
    serviceBranch: header('x-service-branch'),
    triggerBranch: header('x-trigger-branch'),
  });
  if (principal.kind !== 'secretKey' || principal.attempt)
    throw new MisusedCredential('Invalid API key: a runner connects with a secret key');
  if (!isUnrestricted(principal.scopes)) throw forbidden();
  return principal;
}

function refuse(duplex: Duplex, { status, message }: Problem): void {
  const body = JSON.stringify({ error: message });
  duplex.end(
    `HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
