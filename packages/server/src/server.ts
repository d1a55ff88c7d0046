import type { AddressInfo } from 'node:net';
import { createFindRole } from './auth/membership.ts';
import { connect, type Sql } from './db/connect.ts';
import { engineSettings } from './db/engine-settings.ts';
import { migrate } from './db/migrate.ts';
import { settingUp } from './db/ping.ts';
import { findRoutes, type Routes } from './db/routes.ts';
import { retrieveBlob } from './versions/deployments/bundle.ts';
import { checkStoredBlobs } from './versions/store/check.ts';
import { openS3Store } from './versions/store/s3.ts';
import { Admission } from './http/admission.ts';
import { costOfAppend, shareOf } from './http/admission-cost.ts';
import { createHttpApp } from './http/app.ts';
import { checkedEndpoint } from './http/codec-endpoint.ts';
import { builtDashboard } from './http/dashboard.ts';
import { networkOf } from './http/address-limit.ts';
import { createBadCredentialLimit } from './http/bad-credentials.ts';
import { serveHttp1AndHttp2 } from './http/http1-and-http2.ts';
import { hasSingleHost } from './http/host-header.ts';
import { createThrottle, defaultRateLimits } from './http/rate-limit.ts';
import { createHttpMetrics } from './http/metrics.ts';
import { UnauthenticatedConnections } from './http/unauthenticated-connections.ts';
import { acceptRunners } from './http/runner-socket.ts';
import { createReadiness } from './http/readiness.ts';
import { serveMetrics } from './http/serve-metrics.ts';
import { tryListening } from './http/try-listening.ts';
import { packetContent } from './payloads/content.ts';
import { serveRunner } from './runs/dispatch/connection.ts';
import { TenantTurns } from './runs/dispatch/tenant-turns.ts';
import type { StreamAppends } from './channels/s2/append.ts';
import { appendRoute } from './channels/s2/route.ts';
import { serveAppendSessions } from './channels/s2/session.ts';
import { startOtlpMetrics } from './telemetry/metrics/otlp.ts';
import { startFleetMetrics } from './telemetry/metrics/start.ts';
import { pausable } from './operations/pause/pausable.ts';
import { ensureTenancy, type Credentials } from './tenancy/bootstrap.ts';
import { ignoredSettings } from './tenancy/bootstrap-settings.ts';
import { oidcPages } from './tenancy/oidc/pages.ts';
import { readEnvironmentInfo } from './versions/environment-info.ts';
import { checkCallback } from './waitpoints/callback.ts';
import { handlersOf } from './app/handlers.ts';
import type { ServerOptions } from './app/options.ts';
import { startContext, type Disposables } from './app/context.ts';
import { startJobs, type RunningJobs } from './app/jobs.ts';

export type { ServerOptions };

export interface RunningServer {
  readonly url: string;
  readonly port: number;
  /** The address of its metrics. */
  readonly metricsUrl: string;
  /** Set on the first start, and later if `reveal` is set. */
  readonly credentials: Credentials | null;
  /** When the installation was paused, as cached by this process. */
  readonly pausedSince: Date | null;
  /** The current time of this process, in milliseconds since 1970. */
  now(): number;
  /** Shifts this process's time, for tests and for the history created by `millrace demo`. */
  shiftTime(ms: number): void;
  /** Runs a tick of the named background jobs now. Only needed when time is shifted. */
  wakeJobs(names: readonly string[]): void;
  /** Stops the server cleanly: open requests are completed, and runners keep their runs and connect to another server. */
  close(): Promise<void>;
}

/** How long requests may still take once the server is closing. */
const maxClosingMs = 5_000;

/**
 * Starts a server process on a database: migrates it, ensures that the first project exists, and listens. Any number of processes may share a
 * database. Rejects with `DatabaseRefused` or `MasterKeyRefused` if it cannot serve, without having changed anything.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { database, directDatabase, host = '127.0.0.1', log } = options;
  let closing = false;
  // Stopped in reverse order, at the end or when a later part cannot start.
  const disposables: Disposables = [];
  const stopAll = async (): Promise<void> => {
    closing = true;
    for (const stop of disposables.splice(0).toReversed()) await stop();
  };

  try {
    await tryListening(host, options.port);
    const store =
      options.bundleStore &&
      (await openS3Store(options.bundleStore, (why) => log.warn('bundleStore.away', { why })));
    const routes = await findRoutes(database, directDatabase);
    const connections = openConnections(routes);
    const { sql, directSql } = connections;
    disposables.push(() =>
      Promise.all(Object.values(connections).map((each: Sql) => each.end({ timeout: 5 }))),
    );
    if (routes.main.pooler) log.info('database.pooled', { ...routes.main.pooler });
    const variable = directDatabase === undefined ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL';
    const { direct } = routes;
    const migrating = connect(direct.database, {
      name: 'millrace',
      max: 1,
      kind: 'bulk',
      pooler: direct.pooler,
    });
    await settingUp(variable, () => migrate(migrating)).finally(() => migrating.end());
    // Otherwise, the listener serves as the heartbeat.
    if (routes.main !== direct) {
      const pulse = await sql.pulse();
      disposables.push(pulse.unlisten);
    }
    const credentials = await settingUp('DATABASE_URL', () =>
      ensureTenancy(sql, {
        masterKey: options.masterKey,
        reveal: options.reveal ?? false,
        ...options.bootstrap,
      }),
    );
    const settings = options.bootstrap?.settings;
    const ignored = settings && !credentials ? await ignoredSettings(sql, settings) : [];
    if (ignored.length > 0) log.warn('bootstrap.ignored', { variables: ignored, why: 'not the first start' });
    await checkStoredBlobs(sql, store, (key) =>
      log.error('bundleStore.lacking', { store: store?.name, key }),
    );
    const context = await startContext(
      options,
      { ...connections, direct: routes.direct, store },
      disposables,
    );
    const { engine, clock, delivery, pause, authenticate, access, tracing, packets, streams, realtime } =
      context;
    const unauthenticated = new UnauthenticatedConnections(options.connectionLimits);
    disposables.push(() => unauthenticated.stop());
    const metrics = createHttpMetrics();
    const admission = new Admission(options.admissionLimits, metrics.admission);
    const metricsReaders = options.metrics ?? {};
    const fleet = startFleetMetrics({
      sql,
      clock,
      stats: engine.stats,
      pools: { requests: sql, engine: connections.engineSql, direct: directSql },
      runners: { connected: () => [...context.runners.all()].length },
      channels: context.channels,
      delivery,
      maxNames: metricsReaders.maxNames,
    });
    metrics.add(fleet.collect);
    const otlp = await startOtlpMetrics(fleet.collect);
    if (otlp) disposables.push(otlp.stop);
    const logins = createThrottle((options.rateLimits ?? defaultRateLimits).browsers?.logins);
    const mayLogIn = (address: string): boolean => logins(networkOf(address));
    const appends: StreamAppends = {
      ...context.appends,
      append: (to, input) =>
        admission.run(shareOf(to.principal), costOfAppend(input.records), () =>
          context.appends.append(to, input),
        ),
    };
    const app = createHttpApp({
      handlers: handlersOf(context, options.rateLimits),
      authenticate,
      findRole: createFindRole(sql),
      pathSecrets: {
        completeWaitpointByCallback: ({ waitpointId = '', hash = '' }) =>
          checkCallback(sql, options.masterKey, waitpointId, hash),
      },
      access,
      isReady: createReadiness(directSql.isReadOnly, { missingMs: () => delivery.missingMs }),
      pausedSince: () => pause.since,
      ...(tracing && { onResponse: tracing.request }),
      log,
      rateLimits: options.rateLimits,
      admission,
      dashboard: options.dashboard ?? builtDashboard,
      codecEndpoint: options.codecEndpoint && checkedEndpoint(options.codecEndpoint),
      oidc: context.provider && oidcPages({ ...context, provider: context.provider, mayLogIn }),
      basePath: options.basePath,
      trustedProxies: options.trustedProxies,
      unauthenticated,
      packets: packetContent(engine, packets),
      blobs: { get: (environment, version, blob) => retrieveBlob(context, environment, version, blob) },
      streamAppends: appendRoute(appends) as never,
      webhooks: context.webhooks,
      metrics,
      metricsReaders,
    });
    const connection = {
      ...context,
      readVariables: context.variables.read,
      times: context.leaseTimes,
      turns: new TenantTurns(),
      closing: () => closing,
    };
    const badCredentials = createBadCredentialLimit((options.rateLimits ?? defaultRateLimits).badCredentials);
    const sockets = acceptRunners(
      app.server,
      authenticate,
      {
        access,
        unauthenticated,
        badCredentials,
        pingMs: connection.times.pingMs,
        basePath: options.basePath,
      },
      async (environment, socket) =>
        serveRunner(connection, environment.id, await readEnvironmentInfo(sql, environment.id), socket),
    );

    const appendSessions = serveAppendSessions({
      appends,
      access,
      unauthenticated,
      log,
      hasSingleHost,
      basePath: options.basePath,
    });
    const both = serveHttp1AndHttp2(app.server, appendSessions.server, unauthenticated);
    disposables.push(async () => {
      // A busy connection becomes idle after its request, and would otherwise stay open for the next one.
      const idle = setInterval(() => app.server.closeIdleConnections(), 100);
      // A body that never ends must not keep the process alive.
      const late = setTimeout(() => app.server.closeAllConnections(), maxClosingMs);
      await app.close().finally(() => {
        clearInterval(idle);
        clearTimeout(late);
      });
    });
    const { address } = metricsReaders;
    const apart = address && (await serveMetrics(metrics, { ...metricsReaders, address }));
    if (apart) disposables.push(apart.stop);
    await app.listen({ host, port: options.port });
    disposables.push(sockets.stop, () => streams.stop(), realtime.stop, appendSessions.stop, both.stop);
    let running: RunningJobs | undefined;
    const jobs = pausable(pause, () => (running = startJobs(context, fleet.onTick)));
    disposables.push(jobs.stop);

    const { port } = app.server.address() as AddressInfo;
    const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
    log.info('server.started', { url });

    return {
      url,
      port,
      metricsUrl: apart?.url ?? `${url}/metrics`,
      credentials,
      get pausedSince() {
        return pause.since;
      },
      now: clock.now,
      shiftTime: clock.shift,
      wakeJobs: (names) => running?.wake(names),
      async close() {
        if (closing) return;
        await stopAll();
        log.info('server.stopped');
      },
    };
  } catch (error) {
    await stopAll().catch(() => {});
    throw error;
  }
}

function openConnections({ main, direct }: Routes) {
  const { database, pooler } = main;
  return {
    // JIT compilation pays off for statements that take seconds. These are far shorter.
    sql: connect(database, { name: 'millrace', settings: { jit: 'off' }, pooler }),
    // Triggers, claims and outcomes never wait behind the queries of requests.
    engineSql: connect(database, {
      name: 'millrace engine',
      max: 4,
      settings: engineSettings,
      kind: 'engine',
      pooler,
    }),
    // For the listener, and for readiness: no request uses it, so that many requests do not make the server look dead.
    directSql: connect(direct.database, { name: 'millrace', max: 1, kind: 'pulse', pooler: direct.pooler }),
  };
}
