import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { operations as everyOperation, type OperationDeclaration, type Operations } from '@millrace/contract';
import { openApiDocument } from '@millrace/contract/openapi';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import type { Authenticate } from '../auth/authenticate.ts';
import type { LiveAccess } from '../auth/live-access.ts';
import type { FindRole } from '../auth/membership.ts';
import type { Log } from '../logger.ts';
import { badRequest, Problem } from '../problem.ts';
import type { Handler, HandlersOf } from '../request.ts';
import { trackFreshConnections } from './fresh-connections.ts';
import { createHttpMetrics, type HttpMetrics } from './metrics.ts';
import { mountOperations } from './mount.ts';
import { mountPacketContent, type PacketContent } from './packet-content.ts';
import { mountProbes } from './probes.ts';
import { sendFailure, sendJson } from './problem.ts';
import { mountStreamAppends, type StreamAppendRoute } from './stream-appends.ts';
import { answeredRequest, type AnsweredRequest } from './answered.ts';
import { refuseTwoHosts } from './one-host.ts';
import { parseQuery } from './query.ts';
import type { UnprovenConnections } from './unproven.ts';
import { defaultRateLimits, type RateLimits } from './rate-limit.ts';
import { mountReference } from './reference.ts';
import type { MetricsOptions } from './serve-metrics.ts';

export interface HttpAppOptions<O extends Record<string, OperationDeclaration> = Operations> {
  /** What is served. Default: every operation of the contract. */
  readonly operations?: O;
  /** One for each operation; the app refuses to be made when one is missing. */
  readonly handlers: HandlersOf<O>;
  readonly authenticate: Authenticate;
  /** A user's role in the organisation that a path leads to. */
  readonly findRole: FindRole;
  /** What ends streams and uploads with the credentials of their callers. */
  readonly access: Pick<LiveAccess, 'hold'>;
  /** Resolves when the database answers; `/readyz` asks it. */
  readonly isReady: () => Promise<unknown>;
  /** Since when the installation is paused. */
  readonly pausedSince?: () => Date | null;
  readonly log: Log;
  /** Told of every answered request. Default: nobody is. */
  readonly traced?: (answered: AnsweredRequest) => void;
  /** Where payloads and outputs that travel apart are sent to and read from. Default: nowhere. */
  readonly packets?: PacketContent;
  /** Single appends of the S2 protocol. Default: none are taken. */
  readonly streamAppends?: StreamAppendRoute<never, never>;
  /** Default: `defaultRateLimits`. */
  readonly rateLimits?: RateLimits;
  /** Addresses and ranges of proxies whose `X-Forwarded-For` says where a request comes from. Default: nobody's. */
  readonly trustedProxies?: readonly string[] | undefined;
  /** What counts. Default: its own. */
  readonly metrics?: HttpMetrics;
  /** Who may read them. Default: this machine. */
  readonly metricsReaders?: MetricsOptions;
  /** Told of connections on which a request succeeded. Default: nobody is. */
  readonly unproven?: Pick<UnprovenConnections, 'forget'>;
}

const packetPath = /^(\/api\/v[12]\/packets\/)([^?]*\/[^?]*)/;

/** Clients before 4.4 put a packet's name into the path as it is, slashes and all. */
const withPacketAsOneSegment = (url: string): string =>
  url.startsWith('/api/v')
    ? url.replace(packetPath, (_, start: string, name: string) => start + name.replaceAll('/', '%2F'))
    : url;

/** The HTTP server, not yet listening. WebSocket upgrades are left to `app.server.on('upgrade')`. */
export function createHttpApp<O extends Record<string, OperationDeclaration> = Operations>(
  options: HttpAppOptions<O>,
): FastifyInstance {
  const {
    authenticate,
    findRole,
    access,
    isReady,
    pausedSince = () => null,
    log,
    unproven,
    rateLimits = defaultRateLimits,
    trustedProxies,
  } = options;
  // When it is left out, O is Operations.
  const operations: Readonly<Record<string, OperationDeclaration>> = options.operations ?? everyOperation;
  const { metrics = createHttpMetrics(), metricsReaders = {} } = options;
  const app = fastify({
    logger: false,
    // A public token may name a thousand objects, and travels in a header.
    // A request's headers come at once; who takes longer holds a connection and says nothing.
    http: { maxHeaderSize: 64 * 1_024, headersTimeout: 20_000, connectionsCheckingInterval: 5_000 },
    genReqId: requestIds(),
    // Load balancers keep connections for a minute; ours must not close first.
    keepAliveTimeout: 72_000,
    // Nothing goes to and fro for so long only where a client does not take its answer. Streams have rules of their own.
    connectionTimeout: 300_000,
    // An upload of a batch may take as long as its sender needs to make the items.
    requestTimeout: 300_000,
    forceCloseConnections: 'idle',
    // Without it the address of a request is that of its connection, whatever a header says.
    ...(trustedProxies && trustedProxies.length > 0 && { trustProxy: [...trustedProxies] }),
    rewriteUrl: ({ url = '/' }) => withPacketAsOneSegment(url),
    routerOptions: { maxParamLength: 4_096, querystringParser: parseQuery },
    frameworkErrors: (error, request, reply) => sendFailure(request, reply, error, log),
  });
  const endFresh = trackFreshConnections(app.server);
  app.addHook('preClose', (done) => {
    endFresh();
    done();
  });
  refuseTwoHosts(app);
  app.decorateRequest('principal', null);
  app.decorateRequest('arrivedAt', 0);
  // Bodies stay text until the rest of the request is known to be right.
  app.removeAllContentTypeParsers();
  // By its name, too: the parser of all else is looked for anew with each request.
  app.addContentTypeParser(
    ['application/json', '*'],
    { parseAs: 'buffer' },
    (request, bytes: Buffer, done) => {
      try {
        refuseEncoded(request);
        done(null, textOf(bytes));
      } catch (error) {
        done(error as Problem);
      }
    },
  );
  // Only an operation that asks for a stream gets one; one that takes any text takes this too.
  app.addContentTypeParser(
    ['application/x-ndjson', 'application/ndjson'],
    async (request: FastifyRequest, payload: Readable) => {
      refuseEncoded(request);
      const { config, bodyLimit } = request.routeOptions;
      if (config.bodyStream) return payload;
      if (!config.bodyText) throw new Problem(415, 'Content-Type cannot be read: send application/json');
      const chunks: Buffer[] = [];
      let bytes = 0;
      // Where it stops it leaves the rest: to destroy it would be to hang up before the answer.
      for await (const chunk of payload.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > bodyLimit) throw new Problem(413, 'Request body too large');
        chunks.push(chunk);
      }
      return textOf(Buffer.concat(chunks));
    },
  );
  if (unproven) {
    app.addHook('onResponse', async ({ raw }, { statusCode }) => {
      if (statusCode < 400) unproven.forget(raw.socket);
    });
  }
  const { traced } = options;
  if (traced) app.addHook('onResponse', async (request, reply) => traced(answeredRequest(request, reply)));
  app.setErrorHandler((error, request, reply) => sendFailure(request, reply, error, log));
  app.setNotFoundHandler((_request, reply) => {
    sendJson(reply.header('x-should-retry', 'false'), 404, '{"error":"Not found"}');
  });
  mountProbes(app, isReady, pausedSince, metrics, metricsReaders);
  if (options.packets) mountPacketContent(app, options.packets, log);
  if (options.streamAppends) mountStreamAppends(app, options.streamAppends, log);
  mountReference(app, () => openApiDocument(operations));
  // A handler takes its own operation's request, and `mountOperations` pairs them by name.
  const handlers = options.handlers as unknown as Readonly<Record<string, Handler<OperationDeclaration>>>;
  mountOperations(app, {
    operations,
    handlers,
    authenticate,
    findRole,
    access,
    rateLimits,
    metrics,
    log,
    onAdmitted: (socket) => unproven?.forget(socket),
  });
  return app;
}

function refuseEncoded({ headers }: FastifyRequest): void {
  const { 'content-encoding': encoding = 'identity' } = headers;
  if (encoding.toLowerCase() !== 'identity') {
    throw new Problem(415, 'Content-Encoding cannot be read: send the body as it is, without compression');
  }
}

function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw badRequest('The request body is not valid UTF-8');
  return bytes.toString('utf8');
}

/** Unlike those of other processes, and cheap. */
function requestIds(): () => string {
  const process = randomBytes(6).toString('hex');
  let count = 0;
  return () => `req_${process}${(count++).toString(36)}`;
}
