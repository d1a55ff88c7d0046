import { randomUUID } from 'node:crypto';
import { inFull } from '@millrace/contract/compact';
import type {
  Assignment,
  AttemptWaited,
  CompactAssignment,
  EnvironmentInfo,
  LogLine,
  ServerMessage,
} from '@millrace/contract/runner';
import {
  Connection,
  Credentials,
  maxDurationOf,
  Outbox,
  TimeLimit,
  Waits,
  type Task,
} from 'millrace/in-process';
import { execute, type AbortReason } from '@millrace/sdk/executor';

export interface RunnerOptions {
  readonly url: string;
  readonly secretKey: string;
  readonly version: string;
  readonly tasks: ReadonlyMap<string, Task>;
  /** Maximum number of concurrent attempts. */
  readonly concurrency: number;
  /** The engine's time, in milliseconds since 1970. */
  readonly now: () => number;
  /** Whether an attempt of this task is to be delivered twice. */
  readonly deliversTwice: (task: string) => boolean;
  /** Resolves when the engine has reclaimed the attempts of the last connection. */
  readonly takenBack: () => Promise<void>;
}

interface Live {
  readonly assignment: Assignment;
  readonly abort: (reason: AbortReason) => void;
  readonly waiting: Waits;
  readonly limit: TimeLimit | undefined;
  isSuspended: boolean;
  /** The number of the last suspension that has ended. */
  resumed: number;
  /** Whether its process counts as dead. */
  isGone: boolean;
}

const stopped = (): Error =>
  Object.assign(new Error('The run received a stop signal.'), { name: 'AbortError' });

/** A runner that executes runs in this process: the code is that of the test's own modules, so breakpoints in it work. */
export class InProcessRunner {
  readonly #options: RunnerOptions;
  readonly #credentials: Credentials;
  readonly #live = new Map<number, Live>();
  readonly #outbox = new Outbox((message) => this.#connection?.send(message) ?? false);
  #connection: Connection | undefined;
  #environment: EnvironmentInfo | undefined;
  #reconnecting: Promise<void> | undefined;
  #isClosed = false;
  /** Total number of started attempts. */
  begun = 0;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#credentials = new Credentials(options.secretKey);
  }

  /** Attempts whose code executes now, excluding those that wait. */
  get executing(): { readonly run: string; readonly task: string }[] {
    return [...this.#live.values()]
      .filter(({ isSuspended, isGone }) => !isSuspended && !isGone)
      .map(({ assignment: { run, task } }) => ({ run, task }));
  }

  /** Whether the engine has confirmed the outcomes of all attempts that ended here. */
  get isConfirmed(): boolean {
    return this.#outbox.runs.length === 0 && this.#reconnecting === undefined;
  }

  isGone(fence: number): boolean {
    return this.#live.get(fence)?.isGone ?? false;
  }

  /** Resolves when the engine can assign runs to it. */
  connect(): Promise<void> {
    const { url, secretKey, version, concurrency } = this.#options;
    const runner = `runner_${randomUUID().replaceAll('-', '')}`;
    return new Promise<void>((resolve, reject) => {
      this.#connection = new Connection({
        url,
        secretKey,
        hello: () => ({
          type: 'hello',
          runner,
          host: 'test',
          pid: process.pid,
          capacity: concurrency,
          versions: [version],
          leased: [...this.#live].flatMap(([fence, { isGone }]) => (isGone ? [] : [fence])),
          knowsLogged: true,
        }),
        onWelcome: (welcome) => {
          const { environment, lost, now } = welcome;
          this.#environment = environment;
          this.#credentials.learn(environment.id, now);
          this.#outbox.connected(welcome);
          this.#outbox.lost(lost);
          resolve();
        },
        onMessage: (message) => this.#receive(message),
        onState: () => undefined,
        onLeasesLost: () => undefined,
        onRefused: reject,
      });
    });
  }

  /** Acts as if the process had died at this moment: its code stops, and the engine assigns its runs to another runner. */
  crash(): void {
    for (const live of this.#live.values()) {
      live.isGone = true;
      live.limit?.end();
      // Its pending waits never end.
      live.waiting.forget();
    }
    this.#replace();
  }

  /** Resolves when there is a connection again, if one was replaced. */
  async connected(): Promise<void> {
    await this.#reconnecting;
  }

  /** Stops the code and ends the connection. */
  close(): void {
    this.#isClosed = true;
    for (const live of this.#live.values()) if (!live.isGone) live.abort({ kind: 'settled' });
    this.#connection?.send({ type: 'drain' });
    this.#connection?.close();
  }

  /** Ends the connection abruptly and opens that of another runner once the engine has reclaimed its runs. */
  #replace(): void {
    this.#connection?.close();
    this.#reconnecting = this.#options.takenBack().then(async () => {
      if (!this.#isClosed) await this.connect();
      this.#reconnecting = undefined;
    });
  }

  #receive(message: Exclude<ServerMessage, { type: 'welcome' | 'refused' }>): void {
    if (message.type === 'run') for (const assignment of message.assignments) this.#assign(assignment);
    else if (message.type === 'cancel')
      for (const fence of message.fences) this.#live.get(fence)?.abort({ kind: 'canceled' });
    else if (message.type === 'waited') for (const news of message.attempts) this.#waited(news);
    else if (message.type === 'settled') this.#outbox.confirm([...message.fences, ...message.stale]);
    else if (message.type === 'logged') this.#outbox.logged(message.seq);
  }

  #assign(compact: CompactAssignment): void {
    if (this.#live.has(compact.fence)) return;
    const assignment = inFull(compact);
    const isTwice = this.#options.deliversTwice(assignment.task);
    void this.#attempt(assignment);
    if (isTwice) this.#replace();
  }

  #waited({ fence, state, suspension, keys }: AttemptWaited): void {
    const live = this.#live.get(fence);
    if (!live || live.isGone) return;
    if (state === 'stale') live.abort({ kind: 'settled' });
    else if (state === 'suspended') {
      if ((suspension ?? 0) <= live.resumed) return;
      live.isSuspended = true;
      live.waiting.suspended();
    } else {
      live.resumed = Math.max(live.resumed, suspension ?? 0);
      live.isSuspended = false;
      live.waiting.over(keys);
    }
  }

  async #attempt(assignment: Assignment): Promise<void> {
    const { run, fence, attempt } = assignment;
    const task = this.#options.tasks.get(assignment.task);
    const environment = this.#environment;
    if (!task || !environment) return this.#outbox.add({ run, fence, outcome: { kind: 'unknownTask' } });
    this.begun += 1;
    const controller = new AbortController();
    const seconds = assignment.maxDuration ?? maxDurationOf(task);
    const limit =
      seconds === undefined
        ? undefined
        : new TimeLimit(seconds, () => live.abort({ kind: 'maxDuration', seconds }));
    const waiting = new Waits({
      run,
      fence,
      send: (waits) => this.#connection?.send({ type: 'wait', attempts: [waits] }),
      pause: (paused) => limit?.pause(paused),
    });
    const live: Live = {
      assignment,
      waiting,
      limit,
      isSuspended: false,
      resumed: 0,
      isGone: false,
      abort(reason) {
        controller.abort(reason);
        waiting.stop(stopped());
      },
    };
    this.#live.set(fence, live);
    const consumed = new Map<string, number>();
    const outcome = await execute({
      task,
      assignment,
      environment,
      signal: controller.signal,
      onLog: (line) => this.#log(live, { run, attempt, ...line }),
      onWait: (wait) => waiting.begin(wait),
      // Signed for each call, because the clock may have moved.
      credential: () => (live.isGone ? new Promise<string>(() => undefined) : this.#credential(run, fence)),
      isGone: () => live.isGone,
      consumed,
      filePath: 'test',
    });
    limit?.end();
    waiting.forget();
    this.#live.delete(fence);
    if (live.isGone || this.#isClosed) return;
    this.#outbox.add({
      run,
      fence,
      outcome,
      ...(consumed.size > 0 && { consumed: Object.fromEntries(consumed) }),
    });
  }

  #credential(run: string, fence: number): string {
    this.#credentials.learn(this.#environment?.id ?? '', this.#options.now());
    return this.#credentials.of({ run, fence }).text;
  }

  #log({ isGone }: Live, line: LogLine): void {
    if (!isGone) this.#outbox.log([line]);
  }
}
