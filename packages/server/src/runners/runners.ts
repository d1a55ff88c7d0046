import { compact } from '@millrace/contract/compact';
import type { Assignment, AttemptWaited, RunnerProperties, ServerMessage } from '@millrace/contract/runner';
import { maxSuspended } from '@millrace/contract/runner';

/** An attempt that a runner holds, as cached by this process. */
export interface LeasedAttempt {
  readonly env: number;
  readonly run: string;
  readonly task: string;
  /** When this process sent it to the runner, in milliseconds since 1970; undefined if another process sent it. */
  readonly since?: number;
  /** When its runner received it, in milliseconds of `performance.now()`. */
  readonly began?: number;
  /** The names of its queue and of the version that it executes. */
  readonly queue?: string;
  readonly version?: string | undefined;
  /** Undefined if only the end of the attempt is known. */
  readonly attempt?: number;
  /** The W3C trace context of the caller of the run's trigger. */
  readonly traceparent?: string | null | undefined;
}

/** Why a runner could not serve a version, and until when it receives no runs of it, in milliseconds since 1970. */
export interface Unable {
  readonly why: string;
  readonly until: number;
}

/** A runner connected to this process. */
export class ConnectedRunner {
  readonly id: string;
  readonly env: number;
  readonly send: (message: ServerMessage) => void;
  /** The host name that it reported. */
  host = '';
  capacity: number;
  /** Its properties, which a fetched version must match. Undefined if it does not fetch. */
  readonly properties: RunnerProperties | undefined;
  /** Ids of the versions that it has loaded. */
  versions: ReadonlySet<number>;
  /** The runner reported that it accepts no new attempts: it is stopping. */
  draining = false;
  /** A user requested that it receive no attempts. */
  isDrainRequested = false;
  /** Versions that it could not serve, by name. */
  readonly unable = new Map<string, Unable>();
  /** The versions that it was last requested to load. */
  toLoad = '';
  /** It does not load versions ahead of time. */
  isOnDemand = false;
  /** The branches last sent to it, if it connects for each of them. */
  branches: string | undefined;
  /** The attempts that it holds, by fence. */
  readonly leased = new Map<number, LeasedAttempt>();
  /** The suspended attempts among those it holds, with the number of the suspension. They do not take a slot. */
  readonly #suspensions = new Map<number, number>();
  /** When they were suspended, in milliseconds of `performance.now()`. */
  readonly #suspendedAt = new Map<number, number>();
  /** The number of the last suspension that each attempt was resumed from. */
  readonly #resumed = new Map<number, number>();
  /** Slots promised to a write in progress. */
  promised = 0;
  /** Writes in progress that may lease runs to it, with their start times. */
  readonly #leasing = new Set<{ readonly since: number }>();
  /** The last revision of the environment's variables that was sent to it. */
  revision = 0;
  /** How far its clock was ahead in its last two messages with a time, in milliseconds. Their delay is included. */
  readonly #aheadMs: number[] = [];

  constructor(
    id: string,
    env: number,
    capacity: number,
    versions: ReadonlySet<number>,
    send: (message: ServerMessage) => void,
    properties?: RunnerProperties,
  ) {
    this.id = id;
    this.env = env;
    this.capacity = capacity;
    this.versions = versions;
    this.send = send;
    this.properties = properties;
  }

  /** Compares the clock of the runner (`at`) with that of the database, when a message arrives. */
  compareClock(at: number, now: number): void {
    this.#aheadMs.push(at - now);
    if (this.#aheadMs.length > 2) this.#aheadMs.shift();
  }

  /** How far its clock is ahead, in milliseconds; 0 if unknown. A delayed message makes it appear behind, so the larger value is closer. */
  get aheadMs(): number {
    return this.#aheadMs.length === 0 ? 0 : Math.max(...this.#aheadMs);
  }

  get free(): number {
    const suspended = Math.min(this.#suspensions.size, maxSuspended);
    return this.draining || this.isDrainRequested
      ? 0
      : this.capacity - (this.leased.size - suspended) - this.promised;
  }

  /** Starts a write that may lease runs to it. Call the returned function once the lease is registered here, or if nothing was leased. */
  leasing(since: number): () => void {
    const write = { since };
    this.#leasing.add(write);
    return () => void this.#leasing.delete(write);
  }

  /** The time up to which everything leased to it is registered here. At most `at`; in milliseconds by the database's clock. */
  arrivedUntil(at: number): number {
    return Math.min(at, ...[...this.#leasing].map(({ since }) => since - 1));
  }

  /** Suspended attempts, as far as the runner was notified, with the number of the suspension. */
  get suspended(): Iterable<readonly [fence: number, suspension: number]> {
    return this.#suspensions;
  }

  suspend(fence: number, suspension: number): void {
    if (!this.leased.has(fence) || suspension <= (this.#resumed.get(fence) ?? 0)) return;
    this.#suspensions.set(fence, suspension);
    if (!this.#suspendedAt.has(fence)) this.#suspendedAt.set(fence, performance.now());
  }

  /** Notifies it of the results for waiting attempts. */
  notifyWaited(attempts: readonly AttemptWaited[]): void {
    // The end of a suspension may be reported twice, the second time after the attempt has been suspended again.
    const news = attempts.filter(
      ({ fence, state, suspension }) =>
        state !== 'resumed' || (suspension ?? 0) >= (this.#suspensions.get(fence) ?? 0),
    );
    for (const { fence, state, suspension } of news) {
      if (suspension === null) continue;
      if (state === 'suspended') this.suspend(fence, suspension);
      if (state !== 'resumed' || !this.leased.has(fence)) continue;
      this.#resumed.set(fence, suspension);
      this.#suspensions.delete(fence);
      this.#leaveOutWait(fence);
    }
    if (news.length > 0) this.send({ type: 'waited', attempts: news });
  }

  /** An attempt's duration is that of its running code: its waits do not count. */
  #leaveOutWait(fence: number): void {
    const attempt = this.leased.get(fence);
    const since = this.#suspendedAt.get(fence);
    this.#suspendedAt.delete(fence);
    if (attempt?.began === undefined || since === undefined) return;
    this.leased.set(fence, { ...attempt, began: attempt.began + performance.now() - since });
  }

  /** The attempt that it holds for a run. */
  attemptOf(run: string): LeasedAttempt | undefined {
    for (const attempt of this.leased.values()) if (attempt.run === run) return attempt;
    return undefined;
  }

  /** Removes an attempt that it no longer holds. */
  release(fence: number): void {
    this.leased.delete(fence);
    this.#suspensions.delete(fence);
    this.#suspendedAt.delete(fence);
    this.#resumed.delete(fence);
  }

  assign(assignments: readonly Assignment[]): void {
    const since = Date.now();
    const began = performance.now();
    for (const { fence, run, task, attempt, traceparent, queue, version } of assignments)
      this.leased.set(fence, {
        env: this.env,
        run,
        task,
        attempt,
        traceparent,
        since,
        began,
        queue,
        version,
      });
    for (const frame of frames(assignments)) this.send({ type: 'run', assignments: frame.map(compact) });
  }
}

/** The runners connected to this process, by environment. */
export class ConnectedRunners {
  readonly #byId = new Map<string, ConnectedRunner>();
  readonly #byEnv = new Map<number, Set<ConnectedRunner>>();

  add(runner: ConnectedRunner): void {
    this.#byId.set(runner.id, runner);
    const others = this.#byEnv.get(runner.env);
    if (others) others.add(runner);
    else this.#byEnv.set(runner.env, new Set([runner]));
  }

  remove(runner: ConnectedRunner): void {
    if (this.#byId.get(runner.id) === runner) this.#byId.delete(runner.id);
    const others = this.#byEnv.get(runner.env);
    others?.delete(runner);
    if (others?.size === 0) this.#byEnv.delete(runner.env);
  }

  get(id: string): ConnectedRunner | undefined {
    return this.#byId.get(id);
  }

  in(env: number): ReadonlySet<ConnectedRunner> {
    return this.#byEnv.get(env) ?? none;
  }

  environments(): Iterable<number> {
    return this.#byEnv.keys();
  }

  all(): Iterable<ConnectedRunner> {
    return this.#byId.values();
  }
}

const none: ReadonlySet<ConnectedRunner> = new Set();

/** A payload has at most 3 MiB, so no frame comes near `maxFrameBytes`. */
const frameCharacters = 4 * 1024 * 1024;

function* frames(assignments: readonly Assignment[]): Generator<readonly Assignment[]> {
  let start = 0;
  let size = 0;
  for (let at = 0; at < assignments.length; at++) {
    const assignment = assignments[at] as Assignment;
    const grown = size + (assignment.payload?.length ?? 0) + (assignment.metadata?.length ?? 0);
    if (grown > frameCharacters && at > start) {
      yield assignments.slice(start, at);
      start = at;
      size = grown - size;
    } else size = grown;
  }
  yield start === 0 ? assignments : assignments.slice(start);
}
