import type { AttemptWaits, BriefAssignment, LogLine, Settlement, Wait } from '@millrace/contract/runner';
import { spawnExecutor } from '../executor/spawn.ts';
import type { Death, ExecutorLink, SpawnOptions } from '../executor/spawn.ts';
import type { FromExecutor, ToExecutor, Waited } from '../executor/messages.ts';
import type { Credential } from './credential.ts';

/** One attempt that this runner holds and has not settled. */
export interface Attempt {
  readonly assignment: BriefAssignment;
  /** Milliseconds, monotonic, as all times here. */
  readonly receivedAt: number;
  /** Where it runs; null while it waits. */
  executor: Executor | null;
  /** The revision of the environment's variables in the process that it was last in. */
  variablesRevision: number | undefined;
  /** Since when its code may be running; null before. */
  startedAt: number | null;
  /** Some of its code may have run, be it in a process that is gone: it cannot be given back. */
  touched: boolean;
  /** It was in a process that died, nobody knows why. It runs alone until it is done. */
  suspect: boolean;
  /** How many processes died before they could start it. */
  failedStarts: number;
  /** When it was asked to stop. */
  canceledAt: number | null;
  /** What it waits for, by key. */
  readonly waits: Map<string, Wait>;
  /** Since when it is suspended: it takes no slot, and its time stands still. */
  suspendedAt: number | null;
  /** The last spell of suspension that it came back from. */
  resumedSpell: number;
  /** Waits that are over, of which it is told once it has a slot again; null while it has none to come back to. */
  returning: string[] | null;
}

/** Who a process is for: many attempts, one whose task asks for that, one that may have killed the process it was in. */
export type Purpose = 'shared' | 'isolated' | 'suspect';

export interface ExecutorOptions {
  readonly version: string;
  readonly revision: string;
  readonly purpose: Purpose;
  readonly projectDir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly ids: SpawnOptions['ids'];
  /** MiB. */
  readonly memory: number | undefined;
  readonly serve: Extract<ToExecutor, { type: 'serve' }>;
  readonly events: ExecutorEvents;
}

export interface ExecutorEvents {
  readonly onReady: (executor: Executor) => void;
  readonly onProgress: (
    executor: Executor,
    settlements: readonly Settlement[],
    lines: readonly LogLine[],
  ) => void;
  readonly onWaits: (executor: Executor, attempts: readonly AttemptWaits[]) => void;
  /** Code of an attempt in it needs a credential. */
  readonly onCredential: (executor: Executor, fence: number) => void;
  readonly onThrownAside: (
    executor: Executor,
    message: Extract<FromExecutor, { type: 'thrownAside' }>,
  ) => void;
  readonly onExiting: (executor: Executor, message: Extract<FromExecutor, { type: 'exiting' }>) => void;
  readonly onDeath: (executor: Executor, death: Death) => void;
  readonly onOutput: (stream: 'stdout' | 'stderr', text: string) => void;
}

const ticksBetweenPings = 5;

/** One executor process and what the runner knows of it. */
export class Executor {
  readonly version: string;
  readonly revision: string;
  readonly purpose: Purpose;
  readonly memory: number | undefined;
  readonly running = new Map<number, Attempt>();
  /** Attempts that are over for the server while their code may go on, and until when that is put up with. */
  readonly leftovers = new Map<number, number>();
  readonly bornAt = performance.now();
  ready = false;
  /** It gets no more attempts. */
  retiring = false;
  /** It was told to end. */
  ending = false;
  /** Who brings the process down is known, so that nobody else in it is suspected. */
  culpritKnown = false;
  /** Why we killed it. */
  killedFor: string | null = null;
  /** How many ticks of the runner passed since it should have answered. */
  silentTicks = 0;
  #awaitsPong = false;
  #ticks = 0;
  readonly #link: ExecutorLink;

  constructor({ version, revision, purpose, memory, serve, events, ...process }: ExecutorOptions) {
    this.version = version;
    this.revision = revision;
    this.purpose = purpose;
    this.memory = memory;
    const onMessage = (message: FromExecutor): void => {
      this.#awaitsPong = false;
      this.silentTicks = 0;
      if (message.type === 'progress') events.onProgress(this, message.settlements, message.lines);
      else if (message.type === 'waits') events.onWaits(this, message.attempts);
      else if (message.type === 'credential') events.onCredential(this, message.fence);
      else if (message.type === 'ready') {
        this.ready = true;
        events.onReady(this);
      } else if (message.type === 'thrownAside') events.onThrownAside(this, message);
      else if (message.type === 'exiting') events.onExiting(this, message);
    };
    this.#link = spawnExecutor({ ...process, memory, onMessage, onOutput: events.onOutput });
    void this.#link.died.then((death) => events.onDeath(this, death));
    this.#link.send(serve);
  }

  /** Whether something runs in it that does not just wait. */
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
    this.#link.send({ type: 'run', assignments: attempts.map(({ assignment }) => assignment) });
  }

  cancel(fences: readonly number[]): void {
    this.#link.send({ type: 'cancel', fences });
  }

  waited(waited: Waited): void {
    this.#link.send({ type: 'waited', attempts: [waited] });
  }

  /** Null: the attempt is not held any more. */
  credential(fence: number, credential: Credential | null): void {
    const { text = null, goodForMs = 0 } = credential ?? {};
    this.#link.send({ type: 'credential', fence, text, goodForMs });
  }

  /**
   * Asks now and then whether its loop turns, and counts the ticks without an answer. Ticks, not time: a machine that slept is
   * not a loop that was blocked.
   */
  tick(): void {
    if (this.#awaitsPong) {
      this.silentTicks += 1;
      return;
    }
    this.#ticks += 1;
    if (this.#ticks % ticksBetweenPings !== 0) return;
    this.#awaitsPong = true;
    this.#link.send({ type: 'ping' });
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
}
