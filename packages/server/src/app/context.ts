import { createAuthenticate } from '../auth/authenticate.ts';
import { startAccessWatcher } from '../auth/watch-access.ts';
import { createMint } from '../auth/mint.ts';
import { endOf } from '../auth/principal.ts';
import { createSigningKeyRing } from '../auth/signing-keys.ts';
import type { Sql } from '../db/connect.ts';
import type { Route } from '../db/database.ts';
import { startClock } from '../db/clock.ts';
import { startWakes } from '../db/wake.ts';
import { defaultMaxBundleBytes } from '../versions/deployments/check-bundle.ts';
import type { BlobStore } from '../versions/store/store.ts';
import { createVariableCache } from '../envvars/variable-cache.ts';
import { Timer } from '../jobs/timer.ts';
import { JobWatch } from '../jobs/watch.ts';
import { startChannels } from '../channels/channels.ts';
import { createNetworks } from '../notifications/networks.ts';
import { resolveName } from '../notifications/post.ts';
import { packetAddresses } from '../payloads/url.ts';
import { startPause } from '../operations/pause/pause.ts';
import { streamAppends } from '../channels/s2/append.ts';
import { EventStreams } from '../channels/sse/event-streams.ts';
import { queueNames } from '../queues/names.ts';
import { startRealtime } from '../realtime/realtime.ts';
import { sendBranches } from '../runners/branches.ts';
import { ConnectedRunners, type ConnectedRunner } from '../runners/runners.ts';
import { createComplete } from '../runs/complete/complete.ts';
import { createTrigger } from '../runs/create/trigger.ts';
import { defaultLeaseTimes } from '../runs/dispatch/connection-state.ts';
import { createDispatch } from '../runs/dispatch/dispatch.ts';
import { applyCurrentRequests } from '../runs/dispatch/apply-requests.ts';
import type { Engine } from '../runs/engine/engine.ts';
import { createStoreLines } from '../runs/logs/store.ts';
import { declaredPaths } from '../runs/paths/declared.ts';
import { createBeginWaits } from '../runs/waits/begin.ts';
import { createEndMessageWaits } from '../runs/waits/messages.ts';
import { createResume } from '../runs/waits/resume.ts';
import { SessionChannels } from '../sessions/channel.ts';
import { createWriteStream } from '../sessions/receive.ts';
import { createEnsureServed } from '../sessions/serve.ts';
import { createServeUnread } from '../sessions/unread.ts';
import { createConfirmer } from '../tenancy/oidc/confirm.ts';
import { defaultTenancyLimits } from '../tenancy/limits.ts';
import { createProvider } from '../tenancy/oidc/provider.ts';
import { createRunStats } from '../telemetry/stats/record.ts';
import { startTracing } from '../telemetry/tracing/start.ts';
import { cachedVersions } from '../versions/versions.ts';
import { createWebhooks } from '../events/webhooks/receive.ts';
import { Rejections } from '../events/webhooks/rejections.ts';
import { Repetitions } from '../events/webhooks/repetitions.ts';
import type { ServerOptions } from './options.ts';
import { defaultRetention } from './retention.ts';
import { listenToPause, listenToWakes } from './wakes.ts';

/** Use `engineSql` only for triggers, claims and outcomes, and `directSql` and `direct` for state that outlives a transaction. */
interface Connections {
  readonly sql: Sql;
  readonly engineSql: Sql;
  readonly directSql: Sql;
  readonly direct: Route;
  /** The store for deployment files; undefined for the database. */
  readonly store: BlobStore | undefined;
}

/** Timers that wake background jobs at a given time or on request. */
export interface Timers {
  /** For delayed runs, retries and waits. */
  readonly runs: Timer;
  readonly schedules: Timer;
  readonly events: Timer;
  readonly bulkActions: Timer;
  readonly outbox: Timer;
}

/** Functions to call on shutdown, last one first. */
export type Disposables = (() => unknown)[];

/**
 * Dependencies shared by handlers, runner connections and background jobs. The database must have been migrated. Everything that must be
 * stopped is added to `disposables`, even if a later part fails to start.
 */
export async function startContext(
  options: ServerOptions,
  connections: Connections,
  disposables: Disposables,
) {
  const { sql, engineSql, directSql, direct, store } = connections;
  const { log, masterKey } = options;
  const stoppedAtEnd = <T extends { stop(): unknown }>(part: T): T => {
    disposables.push(part.stop);
    return part;
  };

  const clock = stoppedAtEnd(await startClock(sql));
  const wakes = stoppedAtEnd(await startWakes(sql, log, clock, directSql));
  const ring = createSigningKeyRing(sql, masterKey, clock);
  const provider = options.oidc && createProvider(options.oidc);
  const confirmer = createConfirmer({ sql, log, masterKey, provider, accessEnded: () => accessEnded() });
  const authenticate = createAuthenticate({ sql, ring, confirm: confirmer.confirm });
  const access = stoppedAtEnd(startAccessWatcher(sql));
  const mint = createMint(ring);
  const pauseNow = options.paused ?? false;
  const pause = stoppedAtEnd(await startPause({ sql, wakes, clock, log }, { pauseNow }));
  const isPaused = () => pause.since !== null;
  const tracing = await startTracing();
  if (tracing) stoppedAtEnd(tracing);
  const timers: Timers = {
    runs: new Timer(),
    schedules: new Timer(),
    events: new Timer(),
    bulkActions: new Timer(),
    outbox: new Timer(),
  };

  const packets = packetAddresses(masterKey);
  const channels = stoppedAtEnd(startChannels({ ...direct, sql, clock, wakes }));
  const streams = new EventStreams(options.streamLimits);
  // Stopped by the server before its data sources.
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

  const { changes } = realtime;
  const paths = declaredPaths(sql);
  await paths.refresh();
  const engine: Engine = {
    sql,
    log,
    clock,
    wakes,
    changes,
    queues: queueNames(sql),
    versions: cachedVersions(sql),
    stats: createRunStats(),
    paths,
  };
  const runners = new ConnectedRunners();
  const variables = stoppedAtEnd(
    createVariableCache({ sql, masterKey, wakes, log, runnersIn: (env) => runners.in(env) }),
  );
  const { redactor } = variables;
  const dispatch = stoppedAtEnd(createDispatch({ engine, engineSql, runners, timer: timers.runs, isPaused }));
  const resume = stoppedAtEnd(createResume(engine, engineSql, runners, isPaused));
  const trigger = createTrigger({
    engine: { ...engine, sql: engineSql },
    dispatch,
    redactor,
    published(run, id) {
      if (run.tags.length > 0) changes.tagged(run.env, id, run.tags);
    },
  });
  const complete = createComplete({ engine, engineSql, dispatch, resume, runners, redactor, tracing });
  const beginWaits = createBeginWaits(engine, engineSql, dispatch, resume);
  const endMessageWaits = createEndMessageWaits({ sql: engineSql, clock }, resume);
  const storeLines = createStoreLines(engine, redactor, tracing, realtime.lineNews.stored);

  const sessions = new SessionChannels(sql, channels);
  const ensureServed = createEnsureServed({ engine, dispatch });
  const serveUnread = createServeUnread({ sql, log, ensureServed });
  const write = createWriteStream({ channels, sessions, ensureServed, endMessageWaits, log });
  const appends = streamAppends({ channels, write, authenticate, mint });
  const rejections = new Rejections();
  const repetitions = new Repetitions();
  const webhooks = createWebhooks({ engine, dispatch, masterKey, rejections, repetitions });
  const receivers = { networks: createNetworks(options.notificationNetworks), resolve: resolveName };

  /** Called when a credential, its user or its environment is no longer valid. */
  const accessEndedHere = (): void => {
    authenticate.clearCache();
    access.checkNow();
  };
  const accessEnded = (): void => {
    accessEndedHere();
    wakes.notify({ kind: 'access' });
  };
  const requestsChanged = async (runner: ConnectedRunner): Promise<void> => {
    if (await applyCurrentRequests(sql, runner)) dispatch.slotsFreed(runner.env);
  };
  const notifyBranches = (env: number): void => {
    for (const runner of runners.in(env))
      // If this fails, the runner's next heartbeat does the same.
      sendBranches(sql, runner).catch(() => log.warn('database.lost', { at: 'branches' }));
  };
  const branchesChanged = (env: number): void => {
    notifyBranches(env);
    wakes.notify({ kind: 'branches', env });
  };
  listenToWakes({
    engine,
    runners,
    dispatch,
    clock,
    requestsChanged,
    notifyBranches,
    accessEnded: accessEndedHere,
    outboxFilled: () => timers.outbox.wakeNow(),
  });
  listenToPause({ pause, runners, dispatch, resume });

  return {
    jobWatch: new JobWatch(),
    direct,
    retention: { ...defaultRetention, ...options.retention },
    leaseTimes: { ...defaultLeaseTimes, ...options.leaseTimes },
    sql,
    log,
    masterKey,
    clock,
    pause,
    timers,
    engine,
    delivery: wakes.delivery,
    authenticate,
    access,
    accessEnded,
    provider,
    confirmer,
    mint,
    tracing,
    runners,
    requestsChanged,
    branchesChanged,
    dispatch,
    resume,
    trigger,
    complete,
    beginWaits,
    endMessageWaits,
    storeLines,
    variables,
    packets,
    realtime,
    channels,
    streams,
    sessions,
    ensureServed,
    serveUnread,
    appends,
    webhooks,
    rejections,
    repetitions,
    receivers,
    tenancyLimits: { ...defaultTenancyLimits, ...options.tenancyLimits },
    maxBundleBytes: options.maxBundleBytes ?? defaultMaxBundleBytes,
    localBuild: options.localBuild,
    store,
  };
}

export type ServerContext = Awaited<ReturnType<typeof startContext>>;
