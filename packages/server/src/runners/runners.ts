import { brief } from '@millrace/contract/brief';
import type { Assignment, AttemptWaited, ServerMessage } from '@millrace/contract/runner';
import { maxSuspended } from '@millrace/contract/runner';

/** An attempt that a runner holds, as this process knows it. */
export interface Held {
  readonly env: number;
  readonly run: string;
  readonly task: string;
  /** When it was handed over here, in milliseconds since 1970; not there when it was taken up from another process. */
  readonly since?: number;
}

/** A runner whose connection this process has. */
export class ConnectedRunner {
  readonly id: string;
  readonly env: number;
  readonly send: (message: ServerMessage) => void;
  capacity: number;
  /** Ids of the versions it can execute. */
  versions: ReadonlySet<number>;
  /** It wants no new attempts. */
  draining = false;
  /** What it holds, by fence. */
  readonly held = new Map<number, Held>();
  /** Of what it holds, the attempts that wait, with the spell of their suspension. They take no slot. */
  readonly #spells = new Map<number, number>();
  /** The last spell that each attempt came back from. */
  readonly #resumed = new Map<number, number>();
  /** Slots promised to a write that is under way. */
  promised = 0;
  /** Writes under way that may lease something to it, with when they began. */
  readonly #leasing = new Set<{ readonly since: number }>();
  /** The revision of the environment's variables that it was told last. */
  revision = 0;

  constructor(
    id: string,
    env: number,
    capacity: number,
    versions: ReadonlySet<number>,
    send: (message: ServerMessage) => void,
  ) {
    this.id = id;
    this.env = env;
    this.capacity = capacity;
    this.versions = versions;
    this.send = send;
  }

  get free(): number {
    const suspended = Math.min(this.#spells.size, maxSuspended);
    return this.draining ? 0 : this.capacity - (this.held.size - suspended) - this.promised;
  }

  /** A write begins that may lease something to it. To be called once that is held, or was nothing. */
  leasing(since: number): () => void {
    const write = { since };
    this.#leasing.add(write);
    return () => void this.#leasing.delete(write);
  }

  /** Until when everything that was leased to it would be held by now; at the latest `at`. Milliseconds by the database's clock. */
  arrivedUntil(at: number): number {
    return Math.min(at, ...[...this.#leasing].map(({ since }) => since - 1));
  }

  /** Attempts that wait, as far as it was told, with the spell of their suspension. */
  get suspended(): Iterable<readonly [fence: number, spell: number]> {
    return this.#spells;
  }

  suspend(fence: number, spell: number): void {
    if (this.held.has(fence) && spell > (this.#resumed.get(fence) ?? 0)) this.#spells.set(fence, spell);
  }

  /** Tells it where attempts stand with their waits. */
  tellWaited(attempts: readonly AttemptWaited[]): void {
    // What is said twice of the end of a wait may come when it waits again.
    const news = attempts.filter(
      ({ fence, state, spell }) => state !== 'resumed' || (spell ?? 0) >= (this.#spells.get(fence) ?? 0),
    );
    for (const { fence, state, spell } of news) {
      if (spell === null) continue;
      if (state === 'suspended') this.suspend(fence, spell);
      if (state !== 'resumed' || !this.held.has(fence)) continue;
      this.#resumed.set(fence, spell);
      this.#spells.delete(fence);
    }
    if (news.length > 0) this.send({ type: 'waited', attempts: news });
  }

  /** It holds this attempt no longer. */
  release(fence: number): void {
    this.held.delete(fence);
    this.#spells.delete(fence);
    this.#resumed.delete(fence);
  }

  assign(assignments: readonly Assignment[]): void {
    const since = Date.now();
    for (const { fence, run, task } of assignments) this.held.set(fence, { env: this.env, run, task, since });
    for (const frame of frames(assignments)) this.send({ type: 'run', assignments: frame.map(brief) });
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

/** Payloads are at most 3 MiB each, so that no frame comes near `maxFrameBytes`. */
const frameCharacters = 4 * 1024 * 1024;

function* frames(assignments: readonly Assignment[]): Generator<readonly Assignment[]> {
  let start = 0;
  let size = 0;
  for (let at = 0; at < assignments.length; at++) {
    const one = assignments[at] as Assignment;
    const grown = size + (one.payload?.length ?? 0) + (one.metadata?.length ?? 0);
    if (grown > frameCharacters && at > start) {
      yield assignments.slice(start, at);
      start = at;
      size = grown - size;
    } else size = grown;
  }
  yield start === 0 ? assignments : assignments.slice(start);
}
