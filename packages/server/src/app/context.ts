import { createAuthenticate } from '../auth/authenticate.ts';
import { startLiveAccess } from '../auth/live-access.ts';
import { createMint } from '../auth/mint.ts';
import { endOf } from '../auth/principal.ts';
import { createSigningKeyRing } from '../auth/signing-keys.ts';
import { startChannels } from '../log/channels.ts';
import type { Sql } from '../db/connect.ts';
import type { Route } from '../db/database.ts';
import { startClock } from '../db/clock.ts';
import { startWakes } from '../db/wake.ts';
import { knownVariables } from '../envvars/known.ts';
import { redacting } from '../envvars/redact/redacting.ts';
import { exportingOutputs } from '../packets/export-output.ts';
import { packetAddresses } from '../packets/url.ts';
import { networksBeside } from '../notifications/networks.ts';
import { resolveName } from '../notifications/post.ts';
import { queueNames } from '../queues/names.ts';
import { startPause } from '../pause/pause.ts';
import { noticing } from '../realtime/publish-changes.ts';
import { startRealtime } from '../realtime/realtime.ts';
import { createDispatch } from '../runs/dispatch/dispatch.ts';
import type { Engine } from '../runs/engine.ts';
import { createKeepLines } from '../runs/logs.ts';
import { cancelingChildren } from '../runs/complete/cancel-children.ts';
import { createSettle } from '../runs/complete/complete.ts';
import { createTrigger } from '../runs/create/trigger.ts';
import { createBeginWaits } from '../runs/waits/begin.ts';
import { createEndMessageWaits } from '../runs/waits/messages.ts';
import { createResume, tellMissed } from '../runs/waits/resume.ts';
import { streamAppends } from '../protocols/s2/append.ts';
import { SessionChannels } from '../sessions/channel.ts';
import { createWriteStream } from '../sessions/receive.ts';
import { createEnsureServed } from '../sessions/serve.ts';
import { createServeUnread } from '../sessions/unread.ts';
import { EventStreams } from '../protocols/sse/event-streams.ts';
import { tracingAttempts } from '../tracing/attempts.ts';
import { startTracing } from '../tracing/start.ts';
import { ConnectedRunners } from '../runners/runners.ts';
import { knownVersions } from '../versions/versions.ts';
import type { ServerOptions } from './options.ts';

/** `engineSql` is for triggers, claims and settlements alone; `directSql` and `direct` for what outlives a transaction. */
interface Connections {
  readonly sql: Sql;
  readonly engineSql: Sql;
  readonly directSql: Sql;
  readonly direct: Route;
}

/** What moves once upkeep has started; nothing is due before. */
export interface Alarms {
  due: (at: number) => void;
  tick: (at: number) => void;
  event: (at: number) => void;
  bulk: () => void;
}

/** What is stopped at the end, the last one first. */
export type Stops = (() => unknown)[];

/**
 * The parts of a server that handlers, runners' connections and upkeep share, wired to each other, on a database that has been migrated.
 * Whatever must be stopped is added to `stops`, even when a later part cannot start.
 */
export async function startParts(options: ServerOptions, connections: Connections, stops: Stops) {
  const { sql, engineSql, directSql, direct } = connections;
  const { log, masterKey } = options;
  const ring = createSigningKeyRing(sql, masterKey);
  const authenticate = createAuthenticate({ sql, ring });
  const access = startLiveAccess(sql);
  stops.push(access.stop);
  const mint = createMint(ring);
  const clock = await startClock(sql);
  stops.push(clock.stop);
  const wakes = await startWakes(sql, log, clock, directSql);
  stops.push(wakes.stop);
  const pause = await startPause({ sql, wakes, clock, log }, { pauseNow: options.paused ?? false });
  stops.push(pause.stop);
  const isPaused = () => pause.since !== null;
  const tracing = await startTracing();
  if (tracing) stops.push(tracing.stop);
  const engine: Engine = { sql, log, clock, wakes, queues: queueNames(sql), versions: knownVersions(sql) };
  const channels = startChannels({ ...direct, sql, clock, wakes });
  stops.push(channels.stop);
  const streams = new EventStreams(options.streamLimits);
  const runners = new ConnectedRunners();
  const alarms: Alarms = { due: () => {}, tick: () => {}, event: () => {}, bulk: () => {} };
  const dispatch = createDispatch(engine, engineSql, runners, (at) => alarms.due(at), isPaused);
  stops.push(dispatch.stop);
  const resume = createResume(engine, engineSql, runners, isPaused);
  stops.push(resume.stop);
  const variables = knownVariables({ sql, masterKey, wakes, log, runnersIn: (env) => runners.in(env) });
  stops.push(variables.stop);
  const packets = packetAddresses(masterKey);
  const realtime = startRealtime({
    sql,
    clock,
    wakes,
    log,
    streams,
    access,
    addressOf:
      ({ environment, baseUrl, principal }) =>
      (name) =>
        baseUrl + packets.sign({ act: 'get', env: environment.id, name }, clock.now(), endOf(principal)),
  });

  // Outermost first: who watches is told, secrets are taken out, spans are recorded, what is large is stored apart.
  const redact = redacting(variables);
  const noticed = noticing(realtime.changes);
  const trigger = noticed.trigger(redact.metadata(createTrigger({ ...engine, sql: engineSql }, dispatch)));
  const settle = noticed.settle(
    redact.outcomes(
      tracingAttempts(
        tracing,
        exportingOutputs(
          engine,
          cancelingChildren(engine, runners, createSettle(engine, engineSql, dispatch, resume)),
        ),
      ),
    ),
  );

  /** A credential, or what it is of, has ended. */
  const accessEnded = (): void => {
    authenticate.forget();
    access.checkNow();
  };
  wakes.listen((wake) => {
    if (wake.kind === 'access') accessEnded();
    if (wake.kind === 'versions') engine.versions.forget(wake.env);
    if (wake.kind === 'resumed') {
      const runner = runners.get(wake.runner);
      // Its next heartbeat asks again.
      if (runner) tellMissed(sql, runner).catch(() => log.warn('database.lost', { at: 'resume' }));
    }
    if (wake.kind === 'cancel') runners.get(wake.runner)?.send({ type: 'cancel', fences: wake.fences });
  });

  pause.onChange(() => {
    if (isPaused()) return;
    for (const env of runners.environments()) {
      dispatch.wake(env);
      resume(env);
    }
  });

  const ensureServed = createEnsureServed({ engine, dispatch });
  const endMessageWaits = createEndMessageWaits({ sql: engineSql, clock }, resume);
  const sessions = new SessionChannels(sql, channels);

  return {
    sql,
    log,
    masterKey,
    clock,
    engine,
    authenticate,
    access,
    accessEnded() {
      accessEnded();
      wakes.tell({ kind: 'access' });
    },
    mint,
    pause,
    tracing,
    alarms,
    runners,
    dispatch,
    resume,
    trigger,
    settle,
    redact,
    noticed,
    variables,
    packets,
    realtime,
    channels,
    streams,
    beginWaits: createBeginWaits(engine, engineSql, dispatch, resume),
    keepLines: redact.lines(createKeepLines(engine)),
    ensureServed,
    endMessageWaits,
    heard: createServeUnread({ sql, log, ensureServed }),
    sessions,
    appends: streamAppends({
      channels,
      write: createWriteStream({ channels, sessions, ensureServed, endMessageWaits, log }),
      authenticate,
      mint,
    }),
    receivers: { networks: networksBeside(options.notificationNetworks), resolve: resolveName },
  };
}

export type Parts = Awaited<ReturnType<typeof startParts>>;
