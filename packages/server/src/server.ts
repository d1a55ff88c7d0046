import type { AddressInfo } from 'node:net';
import { createAuthenticate } from './auth/authenticate.ts';
import { createMint } from './auth/mint.ts';
import type { MasterKey } from './auth/seal.ts';
import { createSigningKeyRing } from './auth/signing-keys.ts';
import { startClock } from './db/clock.ts';
import { connect, type Database } from './db/connect.ts';
import { migrate } from './db/migrate.ts';
import { reach } from './db/reach.ts';
import { startWakes } from './db/wake.ts';
import { errorHandlers } from './errors/handlers.ts';
import { createHttpApp } from './http/app.ts';
import type { RateLimit } from './http/rate-limit.ts';
import { acceptRunners } from './http/runner-socket.ts';
import type { Log } from './log.ts';
import { queueNames } from './queues/names.ts';
import { defaultLeaseTimes, serveRunner, type LeaseTimes } from './runs/connection.ts';
import { createDispatch } from './runs/dispatch.ts';
import type { Engine } from './runs/engine.ts';
import { runHandlers } from './runs/handlers.ts';
import { createKeepLines } from './runs/logs.ts';
import { createSettle } from './runs/settle.ts';
import { createTrigger } from './runs/trigger.ts';
import { scheduleHandlers } from './schedules/handlers.ts';
import { tickPruner } from './schedules/prune.ts';
import { startScheduler } from './schedules/scheduler.ts';
import { syncDeclared } from './schedules/sync.ts';
import { ensureTenancy, type Credentials } from './tenancy/bootstrap.ts';
import { defaultRetention, duties, type Retention } from './upkeep/duties.ts';
import { startPromoter } from './upkeep/promoter.ts';
import { startDuty } from './upkeep/upkeep.ts';
import { readEnvironmentFacts } from './workers/facts.ts';
import { workerHandlers } from './workers/handlers.ts';
import { ConnectedRunners } from './workers/runners.ts';
import { knownVersions } from './workers/versions.ts';

export interface ServerOptions {
  readonly database: Database;
  /** Default `127.0.0.1`. */
  readonly host?: string;
  /** 0 is any free one. */
  readonly port: number;
  readonly masterKey: MasterKey;
  readonly log: Log;
  /** Tell the credentials of the first start again: for development only. */
  readonly reveal?: boolean;
  readonly rateLimit?: RateLimit;
  readonly leaseTimes?: Partial<LeaseTimes>;
  readonly retention?: Partial<Retention>;
}

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
  const times = { ...defaultLeaseTimes, ...options.leaseTimes };
  const retention = { ...defaultRetention, ...options.retention };
  const sql = connect(database, { name: 'millrace' });
  // Claims and settlements never wait behind the queries of requests.
  const engineSql = connect(database, { name: 'millrace engine', max: 4 });
  let closing = false;
  // What was started, to be stopped in the reverse order: at the end, or when something after it cannot start.
  const stops: (() => unknown)[] = [() => Promise.all([sql.end({ timeout: 5 }), engineSql.end({ timeout: 5 })])];
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
    const ring = createSigningKeyRing(sql, options.masterKey);
    const authenticate = createAuthenticate({ sql, ring });
    const clock = await startClock(sql);
    stops.push(clock.stop);
    const wakes = await startWakes(sql, log, clock);
    stops.push(wakes.stop);
    const engine: Engine = { sql, log, clock, wakes, queues: queueNames(sql), versions: knownVersions(sql) };
    const runners = new ConnectedRunners();

    let expectDue: (at: number) => void = () => {};
    let expectTick: (at: number) => void = () => {};
    const dispatch = createDispatch(engine, engineSql, runners, (at) => expectDue(at));
    stops.push(dispatch.stop);
    const trigger = createTrigger(engine, dispatch);
    const settle = createSettle(engine, engineSql, dispatch);

    wakes.listen((wake) => {
      if (wake.kind === 'versions') engine.versions.forget(wake.env);
      if (wake.kind === 'cancel') runners.get(wake.runner)?.send({ type: 'cancel', fences: wake.fences });
    });

    const app = createHttpApp({
      handlers: {
        ...runHandlers({ engine, runners, trigger, mint: createMint(ring) }),
        ...errorHandlers(sql, clock),
        ...scheduleHandlers({ engine, dispatch, expect: (at) => expectTick(at) }),
        ...workerHandlers(
          { ...engine, onRegister: (tx, env, tasks) => syncDeclared(tx, env, tasks, clock.now()) },
          dispatch.wake,
        ),
      },
      authorizing: ['triggerTask', 'triggerMany', 'retrieveRun', 'cancelRun', 'listRunLogs'],
      authenticate,
      isReady: () => sql`select 1`,
      log,
      rateLimit: options.rateLimit,
    });
    const connection = {
      engine,
      runners,
      dispatch,
      settle,
      keepLines: createKeepLines(engine),
      variables: async () => ({}),
      times,
      closing: () => closing,
    };
    const sockets = acceptRunners(app.server, authenticate, async (environment, socket) =>
      serveRunner(connection, environment.id, await readEnvironmentFacts(sql, environment.id), socket),
    );

    stops.push(() => app.close());
    await app.listen({ host, port: options.port });
    stops.push(sockets.stop);

    const promoter = startPromoter(engine, dispatch);
    expectDue = promoter.expect;
    const scheduler = startScheduler({ engine, runners, dispatch }, (duty) => startDuty(duty, log));
    expectTick = scheduler.expect;
    const upkeep = [...duties({ engine, dispatch, settle }, retention), tickPruner(engine)].map((duty) => startDuty(duty, log));
    stops.push(() => Promise.all([promoter.stop(), scheduler.stop(), ...upkeep.map((duty) => duty.stop())]));

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
