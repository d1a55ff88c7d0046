import type { AddressInfo } from 'node:net';
import { auditHandlers } from './audit/handlers.ts';
import { accessPruner } from './audit/prune.ts';
import { createAuthenticate } from './auth/authenticate.ts';
import { createFindRole } from './auth/membership.ts';
import { createMint } from './auth/mint.ts';
import type { MasterKey } from './auth/seal.ts';
import { createSigningKeyRing } from './auth/signing-keys.ts';
import { startClock } from './db/clock.ts';
import { connect, type Database } from './db/connect.ts';
import { migrate } from './db/migrate.ts';
import { reach } from './db/reach.ts';
import { startWakes } from './db/wake.ts';
import { variableHandlers } from './envvars/handlers.ts';
import { knownVariables } from './envvars/known.ts';
import { redacting } from './envvars/redact/redacting.ts';
import { errorHandlers } from './errors/handlers.ts';
import { startDeliverer } from './events/deliverer.ts';
import { eventHandlers } from './events/handlers.ts';
import { eventPruner } from './events/prune.ts';
import { refuseUnreadable } from './events/subscriptions.ts';
import { createHttpApp } from './http/app.ts';
import type { RateLimits } from './http/rate-limit.ts';
import { acceptRunners } from './http/runner-socket.ts';
import type { Log } from './log.ts';
import { queueHandlers } from './queues/handlers.ts';
import { notificationHandlers } from './notifications/handlers.ts';
import { startMessenger } from './notifications/messenger.ts';
import { networksBeside } from './notifications/networks.ts';
import { resolveName } from './notifications/post.ts';
import { notificationPruner } from './notifications/prune.ts';
import { queueNames } from './queues/names.ts';
import { changeHandlers } from './runs/change-handlers.ts';
import { defaultLeaseTimes, serveRunner, type LeaseTimes } from './runs/connection.ts';
import { createDispatch } from './runs/dispatch.ts';
import type { Engine } from './runs/engine.ts';
import { runHandlers } from './runs/handlers.ts';
import { listHandlers } from './runs/list/handlers.ts';
import { createKeepLines } from './runs/logs.ts';
import { outcomeHandlers } from './runs/outcome-handlers.ts';
import { runPruner } from './runs/prune.ts';
import { createSettle } from './runs/settle.ts';
import { createTrigger } from './runs/trigger.ts';
import { scheduleHandlers } from './schedules/handlers.ts';
import { tickPruner } from './schedules/prune.ts';
import { startScheduler } from './schedules/scheduler.ts';
import { syncDeclared } from './schedules/sync.ts';
import { ensureTenancy, type Credentials } from './tenancy/bootstrap.ts';
import { keyHandlers, organizationHandlers, projectHandlers } from './tenancy/handlers.ts';
import { tokenHandlers } from './tenancy/token-handlers.ts';
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
  readonly rateLimits?: RateLimits;
  readonly leaseTimes?: Partial<LeaseTimes>;
  readonly retention?: Partial<Retention>;
  /** Where notifications may go beside the public Internet, such as `10.0.0.0/8`. Default: nowhere. */
  readonly notificationNetworks?: readonly string[];
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
  const receivers = { networks: networksBeside(options.notificationNetworks), resolve: resolveName };
  const sql = connect(database, { name: 'millrace' });
  // Triggers, claims and settlements never wait behind the queries of requests. Their statements are few and of one shape each, whatever
  // their values: planning them again for each call would be a third of their cost.
  const engineSql = connect(database, {
    name: 'millrace engine',
    max: 4,
    settings: { plan_cache_mode: 'force_generic_plan', jit: 'off' },
  });
  let closing = false;
  // What was started, to be stopped in the reverse order: at the end, or when something after it cannot start.
  const stops: (() => unknown)[] = [
    () => Promise.all([sql.end({ timeout: 5 }), engineSql.end({ timeout: 5 })]),
  ];
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
    let expectEvent: (at: number) => void = () => {};
    const dispatch = createDispatch(engine, engineSql, runners, (at) => expectDue(at));
    stops.push(dispatch.stop);
    const { masterKey } = options;
    const variables = knownVariables({ sql, masterKey, wakes, log, runnersIn: (env) => runners.in(env) });
    stops.push(variables.stop);
    const redact = redacting(variables);
    const trigger = redact.metadata(createTrigger({ ...engine, sql: engineSql }, dispatch));
    const settle = redact.outcomes(createSettle(engine, engineSql, dispatch));

    wakes.listen((wake) => {
      if (wake.kind === 'versions') engine.versions.forget(wake.env);
      if (wake.kind === 'cancel') runners.get(wake.runner)?.send({ type: 'cancel', fences: wake.fences });
    });

    const mint = createMint(ring);
    const tenancy = { sql, masterKey, now: clock.now };
    const app = createHttpApp({
      handlers: {
        ...runHandlers({ engine, runners, trigger, mint }),
        ...listHandlers(engine),
        ...changeHandlers({ engine, dispatch, trigger, redactor: variables.redactor }),
        ...outcomeHandlers(engine),
        ...queueHandlers({ sql, clock, wake: dispatch.wake }),
        ...errorHandlers(sql, clock),
        ...tokenHandlers({ sql, mint }),
        ...keyHandlers(tenancy),
        ...projectHandlers(tenancy),
        ...organizationHandlers(tenancy),
        ...auditHandlers(sql),
        ...variableHandlers({ sql, masterKey, now: clock.now, changed: variables.changed }),
        ...scheduleHandlers({ engine, dispatch, expect: (at) => expectTick(at) }),
        ...notificationHandlers({ sql, masterKey, clock, reach: receivers }),
        ...eventHandlers({ engine, dispatch, expect: (at) => expectEvent(at) }),
        ...workerHandlers(
          {
            ...engine,
            onRegister(tx, env, tasks) {
              refuseUnreadable(tasks);
              return syncDeclared(tx, env, tasks, clock.now());
            },
          },
          dispatch.wake,
        ),
      },
      authenticate,
      findRole: createFindRole(sql),
      isReady: () => sql`select 1`,
      log,
      rateLimits: options.rateLimits,
    });
    const connection = {
      engine,
      runners,
      dispatch,
      settle,
      keepLines: redact.lines(createKeepLines(engine)),
      variables: variables.read,
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
    const deliverer = startDeliverer({ engine, dispatch }, (duty) => startDuty(duty, log));
    expectEvent = deliverer.expect;
    const messenger = startMessenger({ sql, log, clock, masterKey, reach: receivers }, (duty) =>
      startDuty(duty, log),
    );
    const upkeep = [
      ...duties({ engine, dispatch, settle }, retention),
      tickPruner(engine),
      eventPruner(engine, retention.eventsMs),
      notificationPruner(sql, clock, retention.notificationsMs),
      runPruner(engine, retention.runsMs),
      accessPruner(sql),
    ].map((duty) => startDuty(duty, log));
    stops.push(() =>
      Promise.all([promoter, scheduler, deliverer, messenger, ...upkeep].map((duty) => duty.stop())),
    );

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
