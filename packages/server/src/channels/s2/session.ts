import { once } from 'node:events';
import {
  constants,
  createServer,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { IncomingHttpHeaders } from 'node:http2';
import type { AccessWatcher } from '../../auth/watch-access.ts';
import type { Log } from '../../logger.ts';
import { failureHeaders } from '../../failure-headers.ts';
import { notFound, unauthorized } from '../../problem.ts';
import { refusalOf, streamsPath, type StreamAppends } from './append.ts';
import { limitFrames, type FrameLimits } from './limit-frames.ts';
import { FrameReader, frameOf, lastFrame } from './frames.ts';
import { readAppendInput, writeAppendAck } from './protobuf.ts';

export interface AppendSessions {
  /** Accepts connections through `emit('connection', socket)`. */
  readonly server: Http2Server;
  /** Breaks every connection: writers resend unacknowledged records to another server. */
  stop(): void;
}

/** Tracks connections that have not made a successful request yet. */
interface UnauthenticatedConnections {
  readonly limits: { readonly idleMs: number };
  opened(connection: ServerHttp2Session): void;
  forget(connection: ServerHttp2Session): void;
}

export interface AppendSessionsOptions {
  readonly appends: StreamAppends;
  readonly access: Pick<AccessWatcher, 'watch'>;
  readonly unauthenticated: UnauthenticatedConnections;
  readonly log: Log;
  /** Whether the request's headers name a single host. */
  readonly hasSingleHost: (rawHeaders: readonly string[]) => boolean;
  /** The path under which clients reach the server, for proxies that do not remove it. */
  readonly basePath?: string | undefined;
}

const pattern = new RegExp(`^${streamsPath}/streams/([^/?]+)/records$`);

/** Serves append sessions over HTTP/2: each incoming frame of records is acknowledged, in order. */
export function serveAppendSessions(options: AppendSessionsOptions): AppendSessions {
  const { unauthenticated, log, hasSingleHost } = options;
  const { idleMs } = unauthenticated.limits;
  const sessions = new Map<ServerHttp2Session, FrameLimits>();
  /** Timers that end connections without an append session, regardless of the frames they send. */
  const idle = new WeakMap<ServerHttp2Session, NodeJS.Timeout>();
  const server = createServer({
    settings: { maxConcurrentStreams: 100 },
    maxSessionInvalidFrames: 100,
    maxSessionRejectedStreams: 100,
  });
  server.on('session', (session) => {
    sessions.set(session, limitFrames(session));
    unauthenticated.opened(session);
    session.on('close', () => {
      sessions.delete(session);
      unauthenticated.forget(session);
      clearTimeout(idle.get(session));
    });
    session.on('error', () => session.destroy());
  });

  const admitted = new WeakMap<ServerHttp2Session, number>();
  const begin = (session: ServerHttp2Session): void => {
    unauthenticated.forget(session);
    sessions.get(session)?.admitted();
    clearTimeout(idle.get(session));
    admitted.set(session, (admitted.get(session) ?? 0) + 1);
  };
  const finish = (session: ServerHttp2Session): void => {
    const left = (admitted.get(session) ?? 1) - 1;
    admitted.set(session, left);
    if (left > 0 || session.destroyed) return;
    const timer = setTimeout(() => session.destroy(), idleMs);
    timer.unref();
    idle.set(session, timer);
  };

  server.on('stream', (stream, headers, _flags, rawHeaders) => {
    stream.on('error', () => stream.destroy());
    // Ended with its connection, by its limits.
    if (stream.destroyed) return;
    if (!hasSingleHost(rawHeaders))
      return refuse(stream, {
        status: 400,
        body: { error: severalHosts },
        headers: failureHeaders('invalid_request', severalHosts),
      });
    const session = stream.session as ServerHttp2Session | undefined;
    const onAdmitted = (): void => {
      if (!session) return;
      begin(session);
      stream.once('close', () => finish(session));
    };
    serve(options, stream, headers, onAdmitted).catch((error: unknown) => {
      const refusal = refusalOf(error);
      if (refusal.status === 500) log.error('request.failed', { route: streamsPath, err: error });
      refuse(stream, refusal);
    });
  });
  return {
    server,
    stop() {
      for (const session of sessions.keys()) session.destroy();
    },
  };
}

/** Sends the reason and closes the stream. Otherwise it would stay open until the writer or the connection ends it. */
function refuse(stream: ServerHttp2Stream, { status, body, headers }: ReturnType<typeof refusalOf>): void {
  if (stream.destroyed) return;
  stream.once('finish', () => stream.close(constants.NGHTTP2_NO_ERROR));
  if (stream.headersSent) {
    stream.end(lastFrame(status, body));
  } else {
    stream.respond({ ':status': status, 'content-type': 'application/json', ...headers });
    stream.end(JSON.stringify(body));
  }
  // Discards further data from the writer.
  stream.resume();
}

async function serve(
  { appends, access, basePath = '' }: AppendSessionsOptions,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  onAdmitted: () => void,
): Promise<void> {
  const path = headers[':path'] ?? '';
  const name = pattern.exec(path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path)?.[1];
  if (name === undefined || headers[':method'] !== 'POST') throw notFound('Not found');
  const to = await appends.admit(decodeURIComponent(name), headers.authorization);
  if (stream.destroyed) return;
  onAdmitted();
  let ended = false;
  const release = access.watch(to.principal, () => {
    ended = true;
    refuse(stream, refusalOf(accessEnded()));
  });
  stream.once('close', release);
  stream.respond({ ':status': 200, 'content-type': 's2s/proto' });
  const frames = new FrameReader();
  // Processed one at a time: nothing is appended after a failed append.
  for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    for (const frame of frames.push(chunk)) {
      if (ended) return;
      const ack = await appends.append(to, readAppendInput(frame));
      if (stream.destroyed || stream.writableEnded) return;
      // Does not buffer acknowledgements for a writer that does not read them.
      if (!stream.write(frameOf(writeAppendAck(ack)))) await drained(stream);
    }
  }
  if (!stream.destroyed && !stream.writableEnded && stream.rstCode === constants.NGHTTP2_NO_ERROR)
    stream.end();
}

async function drained(stream: ServerHttp2Stream): Promise<void> {
  const over = new AbortController();
  const close = (): void => over.abort();
  stream.once('close', close);
  await once(stream, 'drain', { signal: over.signal }).catch(() => {});
  stream.off('close', close);
}

const severalHosts = 'The request names more than one host';
const accessEnded = () => unauthorized('The token of this append session has ended');
