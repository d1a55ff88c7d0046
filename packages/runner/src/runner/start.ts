import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { resolve as absolute } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EnvironmentFacts, ServerMessage } from '@millrace/contract/runner';
import { ProjectRefused } from '@millrace/diagnostics';
import { version as release } from '@millrace/platform';
import { BundleCache, BundleSource, platformHere } from '../bundle-cache/index.ts';
import { cut } from '../executor/cut.ts';
import type { ProcessEnvironment } from '../executor/messages.ts';
import { Connection } from './connection.ts';
import type { Hello, Welcome } from './connection.ts';
import { Credentials } from './credential.ts';
import { Dispatch } from './dispatch.ts';
import { inherited, executorEnvironment } from './executor-env.ts';
import { FetchedVersions } from './fetched-versions.ts';
import { startGuard } from './guard.ts';
import { defaultLimits } from './limits.ts';
import { defaultConcurrency, defaultStopMs } from './options.ts';
import type { GivenBack, Runner, RunnerOptions, Shared } from './options.ts';
import { frameItems, frameLength, Outbox } from './outbox.ts';
import { Ticker } from './ticker.ts';
import { findRunAs, identityOf, idsOf } from './run-as.ts';
import { Secrets } from './secrets.ts';
import { Slots } from './slots.ts';
import { Versions } from './versions.ts';

/** Milliseconds to deliver the last outcomes when the runner stops. */
const flushMs = 1_500;
/** The same when it must stop at once. */
const hurriedFlushMs = 400;
/** Characters of a wait in a frame, approximately. */
const waitLength = 200;
const defaultCacheBytes = 2 * 1024 ** 3;

/**
 * Starts serving tasks: those of a project folder, once it is registered, and those of deployed versions, if it has a cache for them.
 * Rejects with a `ProjectError` or a `ProjectRefused` if the folder is not registered, a `FolderRefused` if the cache cannot be used, or
 * an `Error` if the server refuses. Waits for a server that does not answer.
 */
export async function startRunner(options: RunnerOptions, shared?: Shared): Promise<Runner> {
  const { url, secretKey, branch, outside, concurrency = defaultConcurrency, executors = 1 } = options;
  const secrets = new Secrets();
  const credentials = new Credentials(secretKey);
  const events = secrets.hiddenFrom(options.events ?? {});
  const cache =
    options.cache && new BundleCache(options.cache.folder, options.cache.size ?? defaultCacheBytes);
  await cache?.prepare();
  const projectDir = options.folder?.dir ?? absolute(options.cache?.folder ?? '.');
  const id = `runner_${randomUUID().replaceAll('-', '')}`;
  const user = options.runAs === undefined ? undefined : findRunAs(options.runAs, projectDir);
  const ids = user && idsOf(user);
  const inheritedFrom = (env: Readonly<Record<string, string>>): Readonly<Record<string, string>> => ({
    ...env,
    ...(user && identityOf(user)),
  });
  let base = inheritedFrom(options.env ?? inherited());
  const guard = shared?.guard ?? startGuard();

  let environment: EnvironmentFacts | undefined;
  let env: ProcessEnvironment = { inherited: base, added: {} };
  let revision = '';
  let stopping: Promise<void> | undefined;
  let end!: (error: Error | null) => void;
  const ended = new Promise<Error | null>((resolve) => {
    end = resolve;
  });
  let wakeNow!: () => void;
  const hurried = new Promise<void>((resolve) => {
    wakeNow = resolve;
  });
  let begin!: (error?: Error) => void;
  const welcomed = new Promise<void>((resolve, reject) => {
    begin = (error) => (error ? reject(error) : resolve());
  });

  const outbox = new Outbox((message) => connection.send(message));
  const dispatch = new Dispatch({
    projectDir,
    ids,
    slots: shared?.slots ?? new Slots(concurrency),
    executors,
    executorMemory: options.executorMemory,
    graceMs: options.graceMs ?? defaultLimits.graceMs,
    vacateMs: options.vacateMs ?? defaultLimits.vacateMs,
    blockedMs: options.blockedMs ?? defaultLimits.blockedMs,
    build: (version) => versions.build(version),
    report: (settlement) => outbox.add(secrets.outcome(settlement)),
    // Without a connection, the question is repeated on the next one.
    wait: (attempts) => {
      for (const part of cut(attempts, ({ waits }) => waits.length * waitLength, frameLength, frameItems))
        connection.send({ type: 'wait', attempts: part });
    },
    detach: (fences) => connection.send({ type: 'detach', fences }),
    credential: (attempt) => credentials.of(attempt),
    load: cache && ((version) => versions.fetched?.load(version) ?? Promise.resolve(false)),
    repair: cache && ((version) => versions.fetched?.repair(version) ?? Promise.resolve(true)),
    intact:
      cache && ((version) => (folder?.build(version) ? undefined : versions.fetched?.isIntact(version))),
    log: (lines) => {
      outbox.log(secrets.lines(lines));
      events.onRunLog?.(lines);
    },
    spans: (spans) => outbox.spans(secrets.spans(spans)),
    onAttemptEnd: events.onAttemptEnd,
    onOutput: (stream, text) => events.onOutput?.(stream, text),
    guard,
  });
  const pace = new Ticker(dispatch, (capacity) => connection.send({ type: 'capacity', capacity }));
  const tellVersions = (): void => {
    dispatch.keep(shared ? [] : versions.kept);
    connection.send({ type: 'serve', versions: versions.names });
  };
  const inUse = (): Set<string> => dispatch.versionsInUse;
  const folder = options.folder?.open({
    url,
    secretKey,
    branch,
    ids,
    events,
    env: () => env,
    inUse,
    onRegistered: tellVersions,
  });
  const facts = {
    nodeMajor: Number.parseInt(process.versions.node, 10),
    platform: platformHere(),
    labels: options.labels ?? [],
  };
  const fetching = new AbortController();
  const fetched =
    cache &&
    new FetchedVersions({
      cache,
      source: new BundleSource({ url, secretKey, branch, signal: fetching.signal }),
      facts,
      inUse,
      start: (version) => {
        // Its ticks end a process that does not start.
        pace.start();
        return dispatch.start(version);
      },
      onChange: tellVersions,
      onLoaded: (version, took) => events.onLoaded?.(version, took),
      onDamaged: (version) => events.onDamaged?.(version),
      onUnable: (version, why) => {
        connection.send({ type: 'unable', version, why: secrets.text(why) });
        events.onUnable?.(version, why);
      },
    });
  const versions = new Versions(folder, fetched);

  type Variables = Pick<Welcome, 'variables' | 'revision' | 'secrets'>;
  let told: Variables | undefined;
  const setEnvironment = (variablesNow: Variables): void => {
    told = variablesNow;
    const { variables, revision: of, secrets: names } = variablesNow;
    const unknown = outside?.values ?? {};
    const hidden = Object.keys(unknown).filter((name) => !(name in variables));
    secrets.learn(
      variables,
      names,
      hidden.flatMap((name) => unknown[name] ?? []),
    );
    if (!environment) return;
    const now = executorEnvironment(base, { ...unknown, ...variables }, { url }, environment, of);
    const changed = now.revision !== revision;
    ({ env, revision } = now);
    dispatch.setEnvironment(now);
    // A file that needs a missing variable may load now.
    if (changed && folder?.hadProblems) void folder.redeploy();
  };
  const changeEnv = (changed: Readonly<Record<string, string>>): void => {
    base = inheritedFrom(changed);
    if (!told) return;
    setEnvironment(told);
    // A declaration may depend on a variable.
    if (folder && !folder.hadProblems) void folder.redeploy();
  };
  const hello = (): Hello => ({
    type: 'hello',
    runner: id,
    host: hostname(),
    pid: process.pid,
    release,
    // What it gave back must not come back before the server knows that it drains.
    capacity: stopping ? 0 : pace.capacity,
    versions: versions.names,
    held: [...dispatch.fences, ...outbox.fences],
    knowsLogged: true,
    ...(fetched && { fetches: facts }),
    ...(shared && { isOnDemand: true }),
  });
  let said: Hello;
  /** Sends what changed between `hello` and `welcome`, when nothing can be sent. */
  const tellChanges = (): void => {
    const { versions: names, capacity, held } = hello();
    if (names.join() !== said.versions.join()) connection.send({ type: 'serve', versions: names });
    if (capacity !== said.capacity) connection.send({ type: 'capacity', capacity });
    const still = new Set(held);
    const gone = said.held.filter((fence) => !still.has(fence));
    if (gone.length > 0) connection.send({ type: 'detach', fences: gone });
  };
  const onWelcome = (welcome: Welcome): void => {
    // The branch was archived and made again: nothing here is of the new one.
    if (environment && environment.id !== welcome.environment.id)
      return connection.refuse('The branch of this runner is another one now.');
    tellChanges();
    ({ environment } = welcome);
    credentials.learn(environment.id, welcome.now);
    setEnvironment(welcome);
    dispatch.drop(welcome.lost);
    outbox.lost(welcome.lost);
    outbox.connected(welcome);
    dispatch.askAgain();
    if (stopping) connection.send({ type: 'drain' });
    begin();
  };
  const onMessage = (message: Exclude<ServerMessage, { type: 'welcome' | 'refused' }>): void => {
    if (message.type === 'run') {
      dispatch.assign(message.assignments);
      if (stopping) dispatch.giveBack(0);
      else pace.start();
    } else if (message.type === 'settled') {
      outbox.confirm(message.fences);
      outbox.confirm(message.stale);
    } else if (message.type === 'logged') outbox.logged(message.seq);
    else if (message.type === 'cancel') dispatch.cancel(message.fences);
    else if (message.type === 'waited') dispatch.waited(message.attempts);
    else if (message.type === 'load') void fetched?.keep(message.versions).then(tellVersions);
    else if (message.type === 'stop') stopAsked();
    else if (message.type === 'variables') setEnvironment(message);
  };
  const connection: Connection = new Connection({
    url,
    secretKey,
    branch,
    hello: () => (said = hello()),
    onWelcome,
    onMessage,
    onState: (state, detail) => events.onState?.(state, detail),
    onLeasesLost: () => dispatch.drop(dispatch.fences),
    onRefused: (error) => {
      begin(error);
      void giveUp(error);
    },
  });

  const tellGivenBack = (why: GivenBack['why'], runs: readonly string[]): void => {
    if (runs.length > 0) events.onGivenBack?.({ why, runs });
  };
  /** Ends what is being fetched. */
  const endFetching = async (): Promise<void> => {
    const ending = fetched?.end();
    fetching.abort(new Error('The runner stops.'));
    await ending;
  };
  const stopListening = outside?.onChange(() => told && setEnvironment(told));
  const close = async (): Promise<void> => {
    stopListening?.();
    await folder?.close();
    pace.stop();
    connection.close();
    await dispatch.close();
    await endFetching();
    if (!shared) guard.end();
  };
  const giveUp = async (error: Error): Promise<void> => {
    await close();
    end(error);
  };
  const stop = async (waitMs: number): Promise<void> => {
    await folder?.close();
    connection.send({ type: 'drain' });
    tellGivenBack('notStarted', dispatch.giveBack(0));
    dispatch.letGo();
    events.onStopping?.({ runs: dispatch.runs, waitMs });
    await Promise.race([dispatch.emptied(), ended, hurried, sleep(waitMs, undefined, { ref: false })]);
    tellGivenBack('unfinished', dispatch.unfinished);
    const closed = dispatch.close();
    await Promise.race([
      closed.then(() => outbox.emptied()),
      ended,
      sleep(flushMs, undefined, { ref: false }),
      hurried.then(() => sleep(hurriedFlushMs, undefined, { ref: false })),
    ]);
    if (outbox.runs.length > 0) events.onUnconfirmed?.(outbox.runs);
    // The connection ends last: by then no code runs here, and the server may give what is left to others.
    await closed;
    await close();
    events.onState?.('stopped');
    end(null);
  };

  const stopAsked = (): void => {
    if (stopping) return;
    events.onStopAsked?.();
    stopping ??= stop(options.stopMs ?? defaultStopMs);
  };

  options.signal?.addEventListener('abort', () =>
    begin(new Error('Asked to stop before the server was reached.')),
  );
  if (options.signal?.aborted) begin(new Error('Asked to stop before the server was reached.'));
  try {
    await welcomed;
    const { projectRef, id: environmentId } = environment ?? { projectRef: '', id: '' };
    await folder?.start(`${projectRef}/${environmentId}`);
  } catch (error) {
    await close();
    if (error instanceof ProjectRefused)
      throw new ProjectRefused(error.problems.map((one) => secrets.problem(one)));
    throw error;
  }
  return {
    id,
    get version() {
      return folder?.names.at(-1) ?? null;
    },
    loading: () => fetched?.loading ?? [],
    ended,
    changeEnv,
    pids: () => dispatch.pids,
    stop: ({ waitMs = defaultStopMs } = {}) => (stopping ??= stop(waitMs)),
    stopNow: () => {
      wakeNow();
      return (stopping ??= stop(0));
    },
  };
}
