import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { operations as everyOperation, type OperationDeclaration, type Operations } from '@millrace/contract';
import { openApiDocument } from '@millrace/contract/openapi';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import type { Authenticate } from '../auth/authenticate.ts';
import type { AccessWatcher } from '../auth/watch-access.ts';
import type { FindRole } from '../auth/membership.ts';
import type { Log } from '../logger.ts';
import { failureHeaders } from '../failure-headers.ts';
import { badRequest, Problem } from '../problem.ts';
import type { Handler, HandlersOf } from '../request.ts';
import { Admission } from './admission.ts';
import { admissionFamilies } from './admission-metrics.ts';
import { createBadCredentialLimit } from './bad-credentials.ts';
import { mountBlobContent, type BlobContent } from './blob-content.ts';
import { trackUnusedConnections } from './unused-connections.ts';
import { createHttpMetrics, type HttpMetrics } from './metrics.ts';
import { mountDashboard } from './dashboard.ts';
import type { PathSecrets } from './before-body.ts';
import { mountOperations } from './mount.ts';
import { mountOidcPages, type OidcPages } from './oidc-pages.ts';
import { mountPacketContent, type PacketContent } from './packet-content.ts';
import { mountProbes } from './probes.ts';
import { sendFailure } from './problem.ts';
import { mountStreamAppends, type StreamAppendRoute } from './stream-appends.ts';
import { mountWebhooks, type ServedWebhooks } from './webhooks.ts';
import { tracedRequest, type TracedRequest } from './traced-request.ts';
import { belowBase } from './base-url.ts';
import { refuseConflictingHosts } from './host-header.ts';
import { parseQuery } from './query.ts';
import type { UnauthenticatedConnections } from './unauthenticated-connections.ts';
import { defaultRateLimits, type RateLimits } from './rate-limit.ts';
import { mountReference } from './reference.ts';
import type { MetricsOptions } from './serve-metrics.ts';
import { isForm } from './form.ts';
import { largeBody } from '../json/turns.ts';

export interface HttpAppOptions<O extends Record<string, OperationDeclaration> = Operations> {
  /** The operations to serve. Default: all operations of the contract. */
  readonly operations?: O;
  /** One handler for each operation; a missing one throws. */
  readonly handlers: HandlersOf<O>;
  readonly authenticate: Authenticate;
  /** Finds a user's role in the organization of a path. */
  readonly findRole: FindRole;
  /** Default: none. */
  readonly pathSecrets?: PathSecrets;
  /** Ends streams and uploads when the caller's credential ends. */
  readonly access: Pick<AccessWatcher, 'watch'>;
  /** Resolves when the database answers. Called by `/readyz`. */
  readonly isReady: () => Promise<unknown>;
  /** When the installation was paused; null while it is not. */
  readonly pausedSince?: () => Date | null;
  readonly log: Log;
  /** Called after each response. Default: none. */
  readonly onResponse?: (request: TracedRequest) => void;
  /** Uploads and downloads of packets. Default: not served. */
  readonly packets?: PacketContent;
  /** Downloads of deployment files. Default: not served. */
  readonly blobs?: BlobContent;
  /** Single appends of the S2 protocol. Default: not served. */
  readonly streamAppends?: StreamAppendRoute<never, never>;
  /** Requests of other services. Default: not served. */
  readonly webhooks?: ServedWebhooks;
  /** Default: `defaultRateLimits`. */
  readonly rateLimits?: RateLimits;
  /** Admits requests to the handlers. Default: one with `defaultAdmissionLimits`. */
  readonly admission?: Admission;
  /** The folder with the built dashboard. Default: it is not served. */
  readonly dashboard?: string | undefined;
  /** Decrypts sealed values for the dashboard. */
  readonly codecEndpoint?: string | undefined;
  /** Logging in with an identity provider. Default: not served. */
  readonly oidc?: OidcPages | undefined;
  /** The base path of the server, such as `/millrace`; empty for none. */
  readonly basePath?: string | undefined;
  /** Addresses and ranges of proxies whose `X-Forwarded-For` is trusted. Default: none. */
  readonly trustedProxies?: readonly string[] | undefined;
  /** Metrics to record into. Default: new ones. */
  readonly metrics?: HttpMetrics;
  /** Access to the metrics. Default: only from this machine. */
  readonly metricsReaders?: MetricsOptions;
  /** Connections without a successful request yet. Default: not limited. */
  readonly unauthenticated?: Pick<UnauthenticatedConnections, 'forget'>;
}

const packetPath = /^(\/api\/v[12]\/packets\/)([^?]*\/[^?]*)/;

/** Clients before 4.4 put a packet's name into the path without escaping its slashes. */
const withPacketAsOneSegment = (url: string): string =>
  url.startsWith('/api/v')
    ? url.replace(packetPath, (_, start: string, name: string) => start + name.replaceAll('/', '%2F'))
    : url;

/** Creates the HTTP server without listening. WebSocket upgrades are handled by `app.server.on('upgrade')`. */
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
    unauthenticated,
    rateLimits = defaultRateLimits,
    basePath = '',
    trustedProxies,
  } = options;
  // Without this option, O is Operations.
  const operations: Readonly<Record<string, OperationDeclaration>> = options.operations ?? everyOperation;
  const { metrics = createHttpMetrics(), metricsReaders = {} } = options;
  const { admission = new Admission({}, metrics.admission) } = options;
  const app = fastify({
    logger: false,
    // A public token may name a thousand objects, so headers can be large.
    // Slow headers only keep a connection occupied, so they time out early.
    http: { maxHeaderSize: 64 * 1_024, headersTimeout: 20_000, connectionsCheckingInterval: 5_000 },
    genReqId: requestIds(),
    // Load balancers keep connections for a minute. The server must not close them first.
    keepAliveTimeout: 72_000,
    // A connection can be idle for this long only if the client does not read its response. Streams have separate rules.
    connectionTimeout: 300_000,
    // A client may produce the items of a batch while it uploads them.
    requestTimeout: 300_000,
    forceCloseConnections: 'idle',
    // Without trusted proxies the request's address is that of its connection.
    ...(trustedProxies && trustedProxies.length > 0 && { trustProxy: [...trustedProxies] }),
    rewriteUrl: ({ url = '/' }) => withPacketAsOneSegment(belowBase(url, basePath)),
    routerOptions: { maxParamLength: 4_096, querystringParser: parseQuery },
    frameworkErrors: (error, request, reply) => sendFailure(request, reply, error, log),
  });
  const closeUnused = trackUnusedConnections(app.server);
  app.addHook('preClose', (done) => {
    closeUnused();
    // While it closes, the framework itself answers further requests of open connections with 503.
    const headers = Object.entries(failureHeaders('unavailable', 'Service Unavailable'));
    app.server.prependListener('request', (_, response: ServerResponse) => {
      for (const [name, value] of headers) response.setHeader(name, value);
    });
    done();
  });
  refuseConflictingHosts(app);
  app.decorate('basePath', basePath);
  app.decorateRequest('principal', null);
  app.decorateRequest('arrivedAt', 0);
  // Bodies are not parsed until the rest of the request has been validated.
  app.removeAllContentTypeParsers();
  // Registered by name too, because Fastify searches for the parser of `*` on each request.
  app.addContentTypeParser(
    ['application/json', '*'],
    { parseAs: 'buffer' },
    (request, bytes: Buffer, done) => {
      try {
        refuseEncoded(request);
        done(null, bodyOf(request, bytes));
      } catch (error) {
        done(error as Problem);
      }
    },
  );
  // Operations that declare `bodyStream` get the stream; those that accept any text get a string.
  app.addContentTypeParser(
    ['application/x-ndjson', 'application/ndjson', 'application/octet-stream'],
    async (request: FastifyRequest, payload: Readable) => {
      refuseEncoded(request);
      const { config, bodyLimit } = request.routeOptions;
      if (config.bodyStream) return payload;
      const isBytes = request.headers['content-type']?.startsWith('application/octet-stream') === true;
      if (!config.bodyText && !isBytes)
        throw new Problem('unsupported_media_type', 'Content-Type is not supported: send application/json');
      const chunks: Buffer[] = [];
      let bytes = 0;
      // Do not destroy the stream on an early exit: that would close the connection before the response.
      for await (const chunk of payload.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > bodyLimit) throw new Problem('too_large', 'Request body too large');
        chunks.push(chunk);
      }
      return bodyOf(request, Buffer.concat(chunks));
    },
  );
  if (unauthenticated) {
    app.addHook('onResponse', async ({ raw }, { statusCode }) => {
      if (statusCode < 400) unauthenticated.forget(raw.socket);
    });
  }
  const { onResponse } = options;
  if (onResponse)
    app.addHook('onResponse', async (request, reply) => onResponse(tracedRequest(request, reply)));
  app.setErrorHandler((error, request, reply) => sendFailure(request, reply, error, log));
  mountProbes(app, isReady, pausedSince, metrics, metricsReaders);
  if (options.packets) mountPacketContent(app, options.packets, log);
  if (options.blobs) {
    const badCredentials = createBadCredentialLimit(rateLimits.badCredentials);
    mountBlobContent(app, { blobs: options.blobs, authenticate, access, badCredentials, log });
  }
  if (options.streamAppends) mountStreamAppends(app, options.streamAppends, log);
  if (options.webhooks) mountWebhooks(app, options.webhooks, { admission, metrics, rateLimits, log });
  if (options.dashboard) mountDashboard(app, options.dashboard, options.codecEndpoint);
  if (options.oidc) mountOidcPages(app, options.oidc, log);
  app.server.on('connection', () => admission.connectionAccepted());
  metrics.add(async () => admissionFamilies(admission));
  mountReference(app, () => openApiDocument(operations));
  // Each handler accepts its own operation's request; `mountOperations` matches them by name.
  const handlers = options.handlers as unknown as Readonly<Record<string, Handler<OperationDeclaration>>>;
  mountOperations(app, {
    operations,
    handlers,
    authenticate,
    findRole,
    pathSecrets: options.pathSecrets ?? {},
    access,
    rateLimits,
    metrics,
    admission,
    log,
    onAdmitted: (socket) => unauthenticated?.forget(socket),
  });
  return app;
}

function refuseEncoded({ headers }: FastifyRequest): void {
  const { 'content-encoding': encoding = 'identity' } = headers;
  if (encoding.toLowerCase() !== 'identity') {
    throw new Problem(
      'unsupported_media_type',
      'Content-Encoding is not supported: send the body uncompressed',
    );
  }
}

/** A string; for a large JSON body, its bytes, which are read in parts. */
function bodyOf({ headers, routeOptions: { config } }: FastifyRequest, bytes: Buffer): string | Buffer {
  if (!isUtf8(bytes)) throw badRequest('The request body is not valid UTF-8');
  const isJson = config.bodyText === false && !(config.bodyForm && isForm(headers['content-type']));
  return isJson && bytes.length > largeBody ? bytes : bytes.toString('utf8');
}

/** Request ids that are unique across processes. */
function requestIds(): () => string {
  const process = randomBytes(6).toString('hex');
  let count = 0;
  return () => `req_${process}${(count++).toString(36)}`;
}
