import type { AddressInfo } from 'node:net';
import { createFindRole } from './auth/membership.ts';
import { connect } from './db/connect.ts';
import { migrate } from './db/migrate.ts';
import { reach } from './db/reach.ts';
import { createHttpApp } from './http/app.ts';
import { serveBoth } from './http/both-protocols.ts';
import { UnprovenConnections } from './http/unproven.ts';
import { acceptRunners } from './http/runner-socket.ts';
import { packetContent } from './packets/content.ts';
import { defaultLeaseTimes, serveRunner } from './runs/connection.ts';
import { appendRoute } from './s2/route.ts';
import { serveAppendSessions } from './s2/session.ts';
import { ensureTenancy, type Credentials } from './tenancy/bootstrap.ts';
import { defaultRetention } from './upkeep/duties.ts';
import { readEnvironmentFacts } from './workers/facts.ts';
import { handlersOf } from './app/handlers.ts';
import type { ServerOptions } from './app/options.ts';
import { startParts, type Stops } from './app/parts.ts';
import { startUpkeep } from './app/upkeep.ts';

export type { ServerOptions };

export interface RunningServer {
  readonly url: string;
  readonly port: number;
  /** On the first start, and later if `reveal` is set. */
  readonly credentials: Credentials | null;
  /** Moves this process's time, for tests. */
  shiftTime(ms: number): void;
  /** Ends it in good order: requests under way are answered; runners keep their runs and look for another server. */
  close(): Promise<void>;
}

/**
 * Starts a server process on a database: migrates it, makes sure of the first project, listens. Any number of them may share a
 * database. Rejects with `DatabaseRefused` or `MasterKeyRefused` when it cannot serve, having changed nothing.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { database, host = '127.0.0.1', log } = options;
  // Compiling a statement pays for those that take seconds; here it would be most of what they take.
  const sql = connect(database, { name: 'millrace', settings: { jit: 'off' } });
  // Triggers, claims and settlements never wait behind the queries of requests. Their statements are few and of one shape each, whatever
  // their values: planning them again for each call would be a third of their cost.
  const engineSql = connect(database, {
    name: 'millrace engine',
    max: 4,
    settings: { plan_cache_mode: 'force_generic_plan', jit: 'off' },
  });
  let closing = false;
  // What was started, to be stopped in the reverse order: at the end, or when something after it cannot start.
  const stops: Stops = [() => Promise.all([sql.end({ timeout: 5 }), engineSql.end({ timeout: 5 })])];
  const stopAll = async (): Promise<void> => {
    closing = true;
    for (const stop of stops.splice(0).toReversed()) await stop();
  };

  try {
    await reach(database);
    await migrate(sql);
    const credentials = await ensureTenancy(sql, {
      masterKey: options.masterKey,
      reveal: options.reveal ?? false,
    });
    const parts = await startParts(options, { sql, engineSql }, stops);
    const { engine, clock, authenticate, access, tracing, packets, noticed, streams, realtime, appends } =
      parts;
    const unproven = new UnprovenConnections(options.connectionLimits);
    stops.push(() => unproven.stop());
    const app = createHttpApp({
      handlers: handlersOf(parts, options.rateLimits),
      authenticate,
      findRole: createFindRole(sql),
      access,
      isReady: () => sql`select 1`,
      ...(tracing && { traced: tracing.request }),
      log,
      rateLimits: options.rateLimits,
      unproven,
      packets: packetContent(engine, packets),
      streamAppends: appendRoute(appends) as never,
    });
    const connection = {
      ...parts,
      variables: parts.variables.read,
      times: { ...defaultLeaseTimes, ...options.leaseTimes },
      closing: () => closing,
    };
    const sockets = acceptRunners(
      app.server,
      authenticate,
      { access, unproven },
      async (environment, socket) =>
        serveRunner(connection, environment.id, await readEnvironmentFacts(sql, environment.id), {
          send(message) {
            socket.send(message);
            noticed.sent(environment.id, message);
          },
          close: socket.close,
        }),
    );

    const appendSessions = serveAppendSessions({ appends, access, unproven, log });
    const both = serveBoth(app.server, appendSessions.server, unproven);
    stops.push(async () => {
      // What was under way when it closed is idle afterwards, and would be kept for its next request.
      const idle = setInterval(() => app.server.closeIdleConnections(), 100);
      await app.close().finally(() => clearInterval(idle));
    });
    await app.listen({ host, port: options.port });
    stops.push(sockets.stop, () => streams.stop(), realtime.stop, appendSessions.stop, both.stop);
    stops.push(startUpkeep(parts, { ...defaultRetention, ...options.retention }).stop);

    const { port } = app.server.address() as AddressInfo;
    const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
    log.info('server.started', { url });

    return {
      url,
      port,
      credentials,
      shiftTime: clock.shift,
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
