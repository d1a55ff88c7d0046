import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { resolve as absolute } from 'node:path';
import type { EnvironmentInfo, ServerMessage } from '@millrace/contract/runner';
import { ProjectRefused } from '@millrace/diagnostics';
import { version as release } from '@millrace/platform';
import { type BundleCache, BundleSource, platformHere } from '../bundle-cache/index.ts';
import { cut } from '../executor/cut.ts';
import { withResolvers } from '../with-resolvers.ts';
import { Connection } from './connection.ts';
import type { Hello, Welcome } from './connection.ts';
import { Credentials } from './credential.ts';
import { Dispatch } from './dispatch.ts';
import { inherited } from './executor-env.ts';
import { ExecutorVariables, type ServerVariables } from './executor-variables.ts';
import { FetchedVersions } from './fetched-versions.ts';
import { type Guard, startGuard } from './guard.ts';
import { handOver } from './hand-over.ts';
import { defaultLimits } from './limits.ts';
import { defaultConcurrency, defaultStopMs } from './options.ts';
import type { Runner, RunnerEvents, RunnerOptions, ServedFolder, Shared } from './options.ts';
import { frameItems, frameLength, Outbox } from './outbox.ts';
import { findRunAs, identityOf, idsOf } from './run-as.ts';
import { Secrets } from './secrets.ts';
import { Slots } from './slots.ts';
import { Ticker } from './ticker.ts';
import { Versions } from './versions.ts';

/** Characters of a wait in a frame, approximately. */
const waitLength = 200;

type Message = Exclude<ServerMessage, { type: 'welcome' | 'refused' }>;

/** A runner and its parts: the connection, the execution of attempts, and the versions that it serves. */
export class ServingRunner implements Runner {
  readonly id = `runner_${randomUUID().replaceAll('-', '')}`;
  readonly #options: RunnerOptions;
  readonly #shared: Shared | undefined;
  readonly #secrets = new Secrets();
  readonly #credentials: Credentials;
  readonly #events: RunnerEvents;
  readonly #guard: Guard;
  readonly #variables: ExecutorVariables;
  readonly #outbox: Outbox;
  readonly #dispatch: Dispatch;
  readonly #pace: Ticker;
  readonly #folder: ServedFolder | undefined;
  readonly #fetched: FetchedVersions | undefined;
  readonly #versions: Versions;
  readonly #connection: Connection;
  readonly #properties: NonNullable<Hello['fetches']>;
  readonly #fetching = new AbortController();
  readonly #stopListening: (() => void) | undefined;
  readonly #welcomed = withResolvers<void>();
  readonly #ended = withResolvers<Error | null>();
  readonly #hurried = withResolvers<void>();
  #environment: EnvironmentInfo | undefined;
  /** The `hello` message of the last connection. */
  #lastHello: Hello | undefined;
  #stopping: Promise<void> | undefined;

  constructor(options: RunnerOptions, cache: BundleCache | undefined, shared: Shared | undefined) {
    const { url, secretKey, branch, outside, concurrency = defaultConcurrency, executors = 1 } = options;
    this.#options = options;
    this.#shared = shared;
    this.#credentials = new Credentials(secretKey);
    this.#events = this.#secrets.hiddenFrom(options.events ?? {});
    const projectDir = options.folder?.dir ?? absolute(options.cache?.folder ?? '.');
    const user = options.runAs === undefined ? undefined : findRunAs(options.runAs, projectDir);
    const ids = user && idsOf(user);
    this.#guard = shared?.guard ?? startGuard();
    this.#variables = new ExecutorVariables({
      url,
      outside,
      base: options.env ?? inherited(),
      identity: user && identityOf(user),
      secrets: this.#secrets,
    });
    this.#outbox = new Outbox((message) => this.#connection.send(message));
    this.#dispatch = new Dispatch({
      projectDir,
      ids,
      slots: shared?.slots ?? new Slots(concurrency),
      executors,
      executorMemory: options.executorMemory,
      graceMs: options.graceMs ?? defaultLimits.graceMs,
      vacateMs: options.vacateMs ?? defaultLimits.vacateMs,
      blockedMs: options.blockedMs ?? defaultLimits.blockedMs,
      build: (version) => this.#versions.build(version),
      report: (settlement) => this.#outbox.add(this.#secrets.outcome(settlement)),
      // Without a connection, the request is repeated on the next one.
      wait: (attempts) => {
        for (const part of cut(attempts, ({ waits }) => waits.length * waitLength, frameLength, frameItems))
          this.#connection.send({ type: 'wait', attempts: part });
      },
      detach: (fences) => this.#connection.send({ type: 'detach', fences }),
      credential: (attempt) => this.#credentials.of(attempt),
      load: cache && ((version) => this.#fetched?.load(version) ?? Promise.resolve(false)),
      repair: cache && ((version) => this.#fetched?.repair(version) ?? Promise.resolve(true)),
      intact:
        cache && ((version) => (this.#folder?.build(version) ? undefined : this.#fetched?.isIntact(version))),
      log: (lines) => {
        this.#outbox.log(this.#secrets.lines(lines));
        this.#events.onRunLog?.(lines);
      },
      spans: (spans) => this.#outbox.spans(this.#secrets.spans(spans)),
      onAttemptEnd: this.#events.onAttemptEnd,
      onOutput: (stream, text) => this.#events.onOutput?.(stream, text),
      guard: this.#guard,
    });
    this.#pace = new Ticker(this.#dispatch, (capacity) =>
      this.#connection.send({ type: 'capacity', capacity }),
    );
    const inUse = (): Set<string> => this.#dispatch.versionsInUse;
    this.#folder = options.folder?.open({
      url,
      secretKey,
      branch,
      ids,
      events: this.#events,
      env: () => this.#variables.env,
      inUse,
      onRegistered: () => this.#sendVersions(),
    });
    this.#properties = {
      nodeMajor: Number.parseInt(process.versions.node, 10),
      platform: platformHere(),
      labels: options.labels ?? [],
    };
    this.#fetched =
      cache &&
      new FetchedVersions({
        cache,
        source: new BundleSource({ url, secretKey, branch, signal: this.#fetching.signal }),
        properties: this.#properties,
        inUse,
        start: (version) => {
          // The ticks end a process that does not start.
          this.#pace.start();
          return this.#dispatch.start(version);
        },
        onChange: () => this.#sendVersions(),
        onLoaded: (version, took) => this.#events.onLoaded?.(version, took),
        onDamaged: (version) => this.#events.onDamaged?.(version),
        onUnable: (version, why) => {
          this.#connection.send({ type: 'unable', version, why: this.#secrets.text(why) });
          this.#events.onUnable?.(version, why);
        },
      });
    this.#versions = new Versions(this.#folder, this.#fetched);
    this.#connection = new Connection({
      url,
      secretKey,
      branch,
      hello: () => (this.#lastHello = this.#hello()),
      isBusy: () => this.#dispatch.hasWork,
      onWelcome: (welcome) => this.#greet(welcome),
      onMessage: (message) => this.#receive(message),
      onState: (state, detail) => this.#events.onState?.(state, detail),
      onLeasesLost: () => this.#dispatch.drop(this.#dispatch.fences),
      onRefused: (error) => {
        this.#welcomed.reject(error);
        void this.#giveUp(error);
      },
    });
    this.#stopListening = outside?.onChange(() => {
      const { received } = this.#variables;
      if (received) this.#setVariables(received);
    });
  }

  /** Waits for the server, and until the versions of its folder are served. */
  async start(): Promise<void> {
    const { signal } = this.#options;
    const abandon = (): void => this.#welcomed.reject(new Error('Stopped before the server was reached.'));
    signal?.addEventListener('abort', abandon);
    if (signal?.aborted) abandon();
    try {
      await this.#welcomed.promise;
      const { projectRef, id } = this.#environment ?? { projectRef: '', id: '' };
      await this.#folder?.start(`${projectRef}/${id}`);
    } catch (error) {
      await this.#close();
      if (error instanceof ProjectRefused)
        throw new ProjectRefused(error.problems.map((problem) => this.#secrets.problem(problem)));
      throw error;
    }
  }

  get version(): string | null {
    return this.#folder?.names.at(-1) ?? null;
  }

  get ended(): Promise<Error | null> {
    return this.#ended.promise;
  }

  loading(): readonly string[] {
    return this.#fetched?.loading ?? [];
  }

  pids(): number[] {
    return this.#dispatch.pids;
  }

  changeEnv(env: Readonly<Record<string, string>>): void {
    this.#variables.inherit(env);
    const { received } = this.#variables;
    if (!received) return;
    this.#setVariables(received);
    // A declaration may depend on a variable.
    if (this.#folder && !this.#folder.hadProblems) void this.#folder.redeploy();
  }

  stop({ waitMs = defaultStopMs }: { readonly waitMs?: number } = {}): Promise<void> {
    return (this.#stopping ??= this.#stop(waitMs));
  }

  stopNow(): Promise<void> {
    this.#hurried.resolve();
    return (this.#stopping ??= this.#stop(0));
  }

  #sendVersions(): void {
    this.#dispatch.keep(this.#shared ? [] : this.#versions.warm);
    this.#connection.send({ type: 'serve', versions: this.#versions.names });
  }

  #hello(): Hello {
    return {
      type: 'hello',
      runner: this.id,
      host: hostname(),
      pid: process.pid,
      release,
      // Returned attempts must not be assigned here again before the server knows that the runner is draining.
      capacity: this.#stopping ? 0 : this.#pace.capacity,
      versions: this.#versions.names,
      leased: [...this.#dispatch.fences, ...this.#outbox.fences],
      knowsLogged: true,
      at: Date.now(),
      ...(this.#fetched && { fetches: this.#properties }),
      ...(this.#shared && { isOnDemand: true }),
    };
  }

  #greet(welcome: Welcome): void {
    // The branch was archived and recreated, so nothing here belongs to the new one.
    if (this.#environment && this.#environment.id !== welcome.environment.id)
      return this.#connection.refuse('The branch of this runner was replaced by another one.');
    this.#sendChanges();
    this.#environment = welcome.environment;
    this.#learnTime(welcome.environment.id, welcome.now);
    this.#setVariables(welcome);
    this.#dispatch.drop(welcome.lost);
    this.#outbox.lost(welcome.lost);
    this.#outbox.connected(welcome);
    this.#dispatch.askAgain();
    if (this.#stopping) this.#connection.send({ type: 'drain' });
    this.#welcomed.resolve();
  }

  /** Sends the changes between `hello` and `welcome`, when nothing can be sent. */
  #sendChanges(): void {
    const last = this.#lastHello;
    if (!last) return;
    const { versions, capacity, leased } = this.#hello();
    if (versions.join() !== last.versions.join()) this.#connection.send({ type: 'serve', versions });
    if (capacity !== last.capacity) this.#connection.send({ type: 'capacity', capacity });
    const still = new Set(leased);
    const gone = last.leased.filter((fence) => !still.has(fence));
    if (gone.length > 0) this.#connection.send({ type: 'detach', fences: gone });
  }

  #receive(message: Message): void {
    switch (message.type) {
      case 'run':
        this.#dispatch.assign(message.assignments);
        if (this.#stopping) this.#dispatch.releaseWaiting(0);
        else this.#pace.start();
        break;
      case 'settled':
        this.#outbox.confirm(message.fences);
        this.#outbox.confirm(message.stale);
        break;
      case 'logged':
        this.#outbox.logged(message.seq);
        break;
      case 'cancel':
        this.#dispatch.cancel(message.fences);
        break;
      case 'waited':
        this.#dispatch.waited(message.attempts);
        break;
      case 'load':
        void this.#fetched?.keep(message.versions).then(() => this.#sendVersions());
        break;
      case 'stop':
        this.#stopRequested();
        break;
      case 'variables':
        this.#setVariables(message);
        break;
      case 'time':
        if (this.#environment) this.#learnTime(this.#environment.id, message.now);
        break;
      default:
        break;
    }
  }

  #learnTime(environment: string, now: number): void {
    if (this.#credentials.learn(environment, now)) this.#dispatch.renewCredentials();
  }

  #setVariables(variables: ServerVariables): void {
    this.#variables.learn(variables);
    if (!this.#environment) return;
    const { environment, isNew } = this.#variables.in(this.#environment);
    this.#dispatch.setEnvironment(environment);
    // A file that needs a missing variable may load now.
    if (isNew && this.#folder?.hadProblems) void this.#folder.redeploy();
  }

  #stopRequested(): void {
    if (this.#stopping) return;
    this.#events.onStopRequested?.();
    this.#stopping ??= this.#stop(this.#options.stopMs ?? defaultStopMs);
  }

  async #stop(waitMs: number): Promise<void> {
    await this.#folder?.close();
    await handOver({
      connection: this.#connection,
      dispatch: this.#dispatch,
      outbox: this.#outbox,
      events: this.#events,
      waitMs,
      hurried: this.#hurried.promise,
      ended: this.#ended.promise,
    });
    await this.#close();
    this.#events.onState?.('stopped');
    this.#ended.resolve(null);
  }

  async #giveUp(error: Error): Promise<void> {
    await this.#close();
    this.#ended.resolve(error);
  }

  async #close(): Promise<void> {
    this.#stopListening?.();
    await this.#folder?.close();
    this.#pace.stop();
    this.#connection.close();
    await this.#dispatch.close();
    const fetched = this.#fetched?.end();
    this.#fetching.abort(new Error('The runner stops.'));
    await fetched;
    if (!this.#shared) this.#guard.end();
  }
}
