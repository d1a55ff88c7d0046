import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EnvironmentFacts, ServerMessage } from '@millrace/contract/runner';
import { loadProject } from '../project/load.ts';
import { Connection } from './connection.ts';
import type { Hello, Welcome } from './connection.ts';
import { Dispatch } from './dispatch.ts';
import { inherited, surroundings } from './executor-env.ts';
import { startGuard } from './guard.ts';
import { defaultLimits } from './limits.ts';
import type { Runner, RunnerOptions } from './options.ts';
import { Outbox } from './outbox.ts';
import { Pace } from './pace.ts';
import { Secrets } from './secrets.ts';
import { Versions } from './versions.ts';
import { startWatcher } from './watch.ts';
import type { Watcher } from './watch.ts';

/**
 * Starts to serve a project's tasks. Resolves when the first version is registered and served; rejects with a `ProjectError`
 * when the project cannot be read, with an `Error` when the server refuses. A server that does not answer is waited for.
 */
export async function startRunner(options: RunnerOptions): Promise<Runner> {
  const { url, secretKey, concurrency = 100, executors = 1 } = options;
  const secrets = new Secrets();
  const events = secrets.hiddenFrom(options.events ?? {});
  const { dir: projectDir } = await loadProject(options.projectDir);
  const buildsDir = options.buildDir ?? join(projectDir, '.millrace', 'build');
  const id = `runner_${randomUUID().replaceAll('-', '')}`;
  const base = options.env ?? inherited();
  const guard = startGuard();

  let environment: EnvironmentFacts | undefined;
  let env = base;
  let revision = '';
  let watcher: Watcher | undefined;
  let stopping: Promise<void> | undefined;
  let end!: (error: Error | null) => void;
  const ended = new Promise<Error | null>((resolve) => {
    end = resolve;
  });
  let begin!: (error?: Error) => void;
  const welcomed = new Promise<void>((resolve, reject) => {
    begin = (error) => (error ? reject(error) : resolve());
  });

  const outbox = new Outbox((message) => connection.send(message));
  const dispatch = new Dispatch({
    projectDir,
    concurrency,
    executors,
    executorMemory: options.executorMemory,
    graceMs: options.graceMs ?? defaultLimits.graceMs,
    vacateMs: options.vacateMs ?? defaultLimits.vacateMs,
    blockedMs: options.blockedMs ?? defaultLimits.blockedMs,
    build: (version) => versions.build(version),
    settle: (settlement) => outbox.settle(settlement),
    // What is not heard is asked again when the next connection is made.
    wait: (attempts) => connection.send({ type: 'wait', attempts }),
    detach: (fences) => connection.send({ type: 'detach', fences }),
    log: (lines) => {
      outbox.log(lines);
      events.onRunLog?.(lines);
    },
    onAttemptEnd: events.onAttemptEnd,
    onOutput: (stream, text) => events.onOutput?.(stream, text),
    guard,
  });
  const pace = new Pace(dispatch, (prefetch) =>
    connection.send({ type: 'capacity', capacity: concurrency + prefetch }),
  );
  const versions = new Versions({
    url,
    secretKey,
    projectDir,
    buildsDir,
    events,
    env: () => env,
    inUse: () => dispatch.versionsInUse,
    onDeployed: (version) => {
      dispatch.serve(version);
      connection.send({ type: 'serve', versions: versions.names });
    },
    onInputs: async (paths) => watcher?.watch(paths),
  });

  const surround = ({
    variables,
    revision: of,
    secrets: names,
  }: Pick<Welcome, 'variables' | 'revision' | 'secrets'>): void => {
    secrets.learn(variables, names);
    if (!environment) return;
    const now = surroundings(base, variables, { url, secretKey }, environment, of);
    const changed = now.revision !== revision;
    ({ env, revision } = now);
    dispatch.surround(now);
    // A file that threw for want of a variable may load now.
    if (changed && versions.hadProblems) void versions.redeploy();
  };
  const hello = (): Hello => ({
    type: 'hello',
    runner: id,
    host: hostname(),
    pid: process.pid,
    capacity: concurrency + pace.prefetch,
    versions: versions.names,
    held: [...dispatch.fences, ...outbox.fences],
  });
  let said: Hello;
  /** Nothing is sent between a hello and its welcome: what the hello said and is not so any more has to be told yet. */
  const tellChanges = (): void => {
    const { versions: names, capacity, held } = hello();
    if (names.join() !== said.versions.join()) connection.send({ type: 'serve', versions: names });
    if (capacity !== said.capacity) connection.send({ type: 'capacity', capacity });
    const still = new Set(held);
    const gone = said.held.filter((fence) => !still.has(fence));
    if (gone.length > 0) connection.send({ type: 'detach', fences: gone });
  };
  const onWelcome = (welcome: Welcome): void => {
    tellChanges();
    ({ environment } = welcome);
    surround(welcome);
    dispatch.drop(welcome.lost);
    outbox.lost(welcome.lost);
    outbox.tellAgain();
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
    } else if (message.type === 'cancel') dispatch.cancel(message.fences);
    else if (message.type === 'waited') dispatch.waited(message.attempts);
    else surround(message);
  };
  const connection: Connection = new Connection({
    url,
    secretKey,
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

  const close = async (): Promise<void> => {
    await watcher?.close();
    pace.stop();
    connection.close();
    await dispatch.close();
    guard.end();
  };
  const giveUp = async (error: Error): Promise<void> => {
    await close();
    end(error);
  };
  const stop = async (waitMs: number): Promise<void> => {
    await watcher?.close();
    connection.send({ type: 'drain' });
    dispatch.giveBack(0);
    dispatch.letGo();
    await Promise.race([dispatch.emptied(), ended, sleep(waitMs, undefined, { ref: false })]);
    await Promise.race([outbox.emptied(), ended, sleep(2_000, undefined, { ref: false })]);
    await close();
    events.onState?.('stopped');
    end(null);
  };

  options.signal?.addEventListener('abort', () =>
    begin(new Error('Asked to stop before the server was reached.')),
  );
  if (options.signal?.aborted) begin(new Error('Asked to stop before the server was reached.'));
  try {
    await welcomed;
    const { projectRef, id: environmentId } = environment ?? { projectRef: '', id: '' };
    await versions.load(`${projectRef}/${environmentId}`);
    if (options.watch) watcher = await startWatcher(() => void versions.redeploy());
    await versions.deploy();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    id,
    get version() {
      return versions.names.at(-1) ?? '';
    },
    ended,
    pids: () => dispatch.pids,
    stop: ({ waitMs = 30_000 } = {}) => (stopping ??= stop(waitMs)),
  };
}
