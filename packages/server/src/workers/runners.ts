import type { Assignment, ServerMessage } from '@millrace/contract/runner';

/** An attempt that a runner holds, as this process knows it. */
export interface Held {
  readonly env: number;
  readonly run: string;
  readonly task: string;
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
  /** Slots promised to a write that is under way. */
  promised = 0;
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
    return this.draining ? 0 : this.capacity - this.held.size - this.promised;
  }

  assign(assignments: readonly Assignment[]): void {
    for (const { fence, run, task } of assignments) this.held.set(fence, { env: this.env, run, task });
    for (const frame of frames(assignments)) this.send({ type: 'run', assignments: frame });
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
