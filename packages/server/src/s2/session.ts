import {
  constants,
  createServer,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { IncomingHttpHeaders } from 'node:http2';
import type { Log } from '../log.ts';
import { notFound } from '../problem.ts';
import { refusalOf, streamsPath, type StreamAppends } from './append.ts';
import { FrameReader, frameOf, lastFrame } from './frames.ts';
import { readAppendInput, writeAppendAck } from './protobuf.ts';

export interface AppendSessions {
  /** Takes connections by `emit('connection', socket)`. */
  readonly server: Http2Server;
  /** Breaks every connection: writers go on elsewhere with what was not acknowledged. */
  stop(): void;
}

const pattern = new RegExp(`^${streamsPath}/streams/([^/?]+)/records$`);
/** A connection without an append session is kept for so long. */
const idleMs = 120_000;
/** How often the token of a session is looked at again. */
const recheckMs = 5_000;

/** Append sessions over HTTP/2: frames with records come in, an acknowledgement goes out for each, in their order. */
export function serveAppendSessions(
  appends: StreamAppends,
  log: Log,
  namesOneHost: (rawHeaders: readonly string[]) => boolean,
): AppendSessions {
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer({ settings: { maxConcurrentStreams: 100 } });
  server.on('session', (session) => {
    sessions.add(session);
    let open = 0;
    session.on('stream', (stream: ServerHttp2Stream) => {
      open++;
      stream.once('close', () => open--);
    });
    session.setTimeout(idleMs, () => {
      if (open === 0) session.destroy();
    });
    session.on('close', () => sessions.delete(session));
    session.on('error', () => session.destroy());
  });
  server.on('stream', (stream, headers, _flags, rawHeaders) => {
    stream.on('error', () => stream.destroy());
    if (!namesOneHost(rawHeaders))
      return refuse(stream, 400, { error: 'The request names more than one host' });
    serve(appends, stream, headers).catch((error: unknown) => {
      const { status, body } = refusalOf(error);
      if (status === 500) log.error('request.failed', { route: streamsPath, err: error });
      refuse(stream, status, body);
    });
  });
  return {
    server,
    stop() {
      for (const session of sessions) session.destroy();
    },
  };
}

function refuse(stream: ServerHttp2Stream, status: number, body: object): void {
  if (stream.destroyed) return;
  if (stream.headersSent) {
    stream.end(lastFrame(status, body));
  } else {
    stream.respond({ ':status': status, 'content-type': 'application/json' });
    stream.end(JSON.stringify(body));
  }
  // What the writer has under way is not wanted any more.
  stream.resume();
}

async function serve(
  appends: StreamAppends,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
): Promise<void> {
  const name = pattern.exec(headers[':path'] ?? '')?.[1];
  if (name === undefined || headers[':method'] !== 'POST') throw notFound('Not found');
  const admit = () => appends.admit(decodeURIComponent(name), headers.authorization);
  const to = await admit();
  let admittedAt = performance.now();
  stream.respond({ ':status': 200, 'content-type': 's2s/proto' });
  const frames = new FrameReader();
  // One after the other: an append that fails must not leave a gap before the next.
  for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    for (const frame of frames.push(chunk)) {
      if (performance.now() - admittedAt > recheckMs) {
        await admit();
        admittedAt = performance.now();
      }
      const ack = await appends.append(to, readAppendInput(frame));
      if (stream.destroyed) return;
      stream.write(frameOf(writeAppendAck(ack)));
    }
  }
  if (!stream.destroyed && stream.rstCode === constants.NGHTTP2_NO_ERROR) stream.end();
}
