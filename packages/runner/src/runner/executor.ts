import type { AttemptWaits, CompactAssignment, Wait } from '@millrace/contract/runner';
import { spawnExecutor } from '../executor/spawn.ts';
import type { Death, ExecutorLink, SpawnOptions } from '../executor/spawn.ts';
import type { FromExecutor, ToExecutor, Waited } from '../executor/messages.ts';
import { pipeFaults } from '../executor/read-message.ts';
import type { Credential } from './credential.ts';
import { AssignedAttempts } from './assigned-attempts.ts';

/** An attempt that this runner holds. Here, because attempts and executors refer to each other. */
export interface Attempt {
  readonly assignment: CompactAssignment;
  /** Monotonic milliseconds, like all times here. */
  readonly receivedAt: number;
  /** Its process; null while it waits for one. */
  executor: Executor | null;
  /** The revision of the variables in its last process. */
  variablesRevision: number | undefined;
  /** When its code may have started; null before. */
  startedAt: number | null;
  /** Some of its code may have run, so it cannot be returned. */
  touched: boolean;
  /** Its process died for an unknown reason. It then runs alone. */
  suspect: boolean;
  /** Number of processes that died before starting it. */
  failedStarts: number;
  /** When it received a stop signal. */
  canceledAt: number | null;
  /** Its waits, by key. */
  readonly waits: Map<string, Wait>;
  /** When it was suspended. A suspended attempt occupies no slot, and its `maxDuration` is paused. */
  suspendedAt: number | null;
  /** The number of the last suspension that it resumed from. */
  resumedSuspension: number;
  /** Keys of ended waits to report once it has a slot again; null while it is not resuming. */
  resuming: string[] | null;
}

/** `shared`: many attempts. `isolated`: one attempt of a task with `isolated` or a machine. `suspect`: one attempt that may have crashed its process. */
export type Purpose = 'shared' | 'isolated' | 'suspect';

export interface ExecutorOptions {
  readonly version: string;
  readonly revision: string;
  readonly purpose: Purpose;
  readonly projectDir: string;
  readonly sdk: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly ids: SpawnOptions['ids'];
  /** MiB. */
  readonly memory: number | undefined;
  readonly serve: Omit<Extract<ToExecutor, { type: 'serve' }>, 'token'>;
  /** Whether the files of the version are intact. None of them is imported until that is known. */
  readonly intact?: Promise<boolean> | undefined;
  readonly events: ExecutorEvents;
}

export interface ExecutorEvents {
  readonly onReady: (executor: Executor) => void;
  readonly onProgress: (executor: Executor, progress: Extract<FromExecutor, { type: 'progress' }>) => void;
  readonly onWaits: (executor: Executor, attempts: readonly AttemptWaits[]) => void;
  /** An attempt needs a credential. */
  readonly onCredential: (executor: Executor, fence: number) => void;
  readonly onUncaught: (executor: Executor, message: Extract<FromExecutor, { type: 'uncaught' }>) => void;
  readonly onExiting: (executor: Executor, message: Extract<FromExecutor, { type: 'exiting' }>) => void;
  readonly onDeath: (executor: Executor, death: Death) => void;
  /** Output that it writes to its file descriptors 1 and 2. */
  readonly onOutput: (executor: Executor, stream: 'stdout' | 'stderr', text: string) => void;
}

const ticksBetweenPings = 5;
/** How long after the end of an attempt its output may still arrive while others run, in milliseconds. */
const outputDelayMs = 100;
/** The same limit while no others run. */
const lateOutputMs = 5_000;
const damaged = 'Files of its version in the cache of the runner were lost or changed';

/** One executor process, from the runner's point of view. */
export class Executor {
  readonly version: string;
  readonly revision: string;
  readonly purpose: Purpose;
  readonly memory: number | undefined;
  /** Whether a codec of the project seals the lines of its runs. */
  readonly seals: boolean;
  readonly running = new Map<number, Attempt>();
  /** Completed attempts whose code may still run, by fence, with the time limit for that code. */
  readonly leftovers = new Map<number, number>();
  readonly bornAt = performance.now();
  ready = false;
  /** Accepts no more attempts. */
  retiring = false;
  /** Whether it received a stop signal. */
  ending = false;
  /** The attempt that caused the process to end is known, so the others are not suspects. */
  culpritKnown = false;
  /** The reason why the runner killed it. */
  killedFor: string | null = null;
  /** Ticks of the runner since the last unanswered ping. */
  silentTicks = 0;
  readonly #assigned = new AssignedAttempts();
  /** It violated the protocol of its pipe, so its messages are ignored. */
  #isFaulty = false;
  /** The last two attempts that left it. */
  #left: readonly { readonly assignment: CompactAssignment; readonly at: number }[] = [];
  /** Number of messages sent to it. */
  #sent = 1;
  #awaitsPong = false;
  #ticks = 0;
  readonly #link: ExecutorLink;
  /** Messages held back while its files are verified. */
  #unsent: ToExecutor[] | undefined;
  /** True once it is ready; false if it died first. */
  readonly started: Promise<boolean>;

  constructor({ version, revision, purpose, memory, serve, intact, events, ...process }: ExecutorOptions) {
    this.version = version;
    this.revision = revision;
    this.purpose = purpose;
    this.memory = memory;
    this.seals = serve.defaults.codec !== undefined;
    let begin!: (isReady: boolean) => void;
    this.started = new Promise((resolve) => {
      begin = resolve;
    });
    const onFault = (why: string): void => {
      this.#isFaulty = true;
      this.kill(why);
    };
    const onMessage = (received: FromExecutor): void => {
      if (this.#isFaulty) return;
      const { admitted: message, isForged } = this.#assigned.admit(received);
      if (isForged) return onFault(pipeFaults.unheld);
      if (!message) return;
      this.#awaitsPong = false;
      this.silentTicks = 0;
      if (message.type === 'progress') events.onProgress(this, message);
      else if (message.type === 'waits') events.onWaits(this, message.attempts);
      else if (message.type === 'credential') events.onCredential(this, message.fence);
      else if (message.type === 'ready') {
        this.ready = true;
        begin(true);
        events.onReady(this);
      } else if (message.type === 'uncaught') events.onUncaught(this, message);
      else if (message.type === 'exiting') events.onExiting(this, message);
      else if (message.type === 'pong' && !message.isComplete) onFault(pipeFaults.consumed);
    };
    this.#link = spawnExecutor({
      ...process,
      memory,
      onMessage,
      onFault,
      onOutput: (stream, text) => events.onOutput(this, stream, text),
    });
    const first = { ...serve, token: this.#link.token };
    void this.#link.died.then((death) => {
      begin(false);
      events.onDeath(this, death);
    });
    if (intact) {
      this.#unsent = [first];
      void intact.then((isIntact) => (isIntact ? this.#begin() : this.kill(damaged)));
    } else this.#link.send(first);
  }

  /** The code of the attempt has ended, or no longer counts. */
  leave({ assignment }: Attempt): void {
    if (!this.running.delete(assignment.fence)) return;
    this.#left = [...this.#left.slice(-1), { assignment, at: performance.now() }];
  }

  /** The attempts whose code may have written the output that is arriving. If there are many, only some of them. */
  writers(): readonly CompactAssignment[] {
    if (!this.ready) return [];
    const now = performance.now();
    const recent = this.#left.filter(({ at }) => now - at < outputDelayMs);
    const live = [...this.running.values(), ...recent];
    const last = this.#left.filter(({ at }) => now - at < lateOutputMs).slice(-1);
    return (live.length > 0 ? live : last).map(({ assignment }) => assignment);
  }

  /** Whether an attempt in it is not suspended. */
  get isBusy(): boolean {
    for (const { suspendedAt } of this.running.values()) if (suspendedAt === null) return true;
    return false;
  }

  get died(): Promise<Death> {
    return this.#link.died;
  }

  get pid(): number | undefined {
    return this.#link.pid;
  }

  run(attempts: readonly Attempt[]): void {
    for (const { assignment } of attempts) this.#assigned.add(assignment);
    this.#send({ type: 'run', assignments: attempts.map(({ assignment }) => assignment) });
  }

  cancel(fences: readonly number[]): void {
    this.#send({ type: 'cancel', fences });
  }

  waited(waited: Waited): void {
    this.#send({ type: 'waited', attempts: [waited] });
  }

  /** `null` if the attempt is no longer held. */
  credential(fence: number, credential: Credential | null): void {
    const { text = null, goodForMs = 0 } = credential ?? {};
    this.#send({ type: 'credential', fence, text, goodForMs });
  }

  /**
   * Pings the process regularly and counts ticks without a reply. It counts ticks rather than time, because a machine that was asleep does
   * not have a blocked event loop.
   */
  tick(): void {
    if (this.#awaitsPong) this.silentTicks += 1;
    this.#ticks += 1;
    if (this.#ticks % ticksBetweenPings !== 0) return;
    this.#awaitsPong = true;
    this.#send({ type: 'ping', sent: this.#sent + 1 });
  }

  kill(why: string | null): void {
    this.retiring = true;
    this.ending = true;
    this.killedFor ??= why;
    this.#link.kill();
  }

  end(): void {
    this.retiring = true;
    this.ending = true;
    this.#link.end();
  }

  #begin(): void {
    const unsent = this.#unsent ?? [];
    this.#unsent = undefined;
    for (const message of unsent) this.#link.send(message);
  }

  #send(message: ToExecutor): void {
    this.#sent += 1;
    if (this.#unsent) this.#unsent.push(message);
    else this.#link.send(message);
  }
}
