import { setTimeout as sleep } from 'node:timers/promises';
import { runs, type AnyTask, type Run, type TaskOutput } from '@millrace/sdk';
import { durationMs, type Duration } from '../clock/duration.ts';
import { moveDate } from '../clock/move-date.ts';
import type { Faults } from '../faults/faults.ts';
import { joinHost } from '../join/join.ts';
import type { HostCalls } from '../host/protocol.ts';
import { HostLost, type Channel } from '../join/channel.ts';
import { TestEnvironment } from './engine.ts';
import { PendingCalls } from './pending.ts';
import { readTasks, type TaskDefaults, type TaskSource } from './tasks.ts';
import { Progress } from './progress.ts';
import { readWaiting, type WaitingRun } from './waiting.ts';

export interface TestKitOptions extends TaskDefaults {
  /** The tasks for the engine: tasks, or modules with tasks (`import * as tasks from …`). */
  readonly tasks: readonly TaskSource[];
  /** Maximum number of runs that execute concurrently. Default 100. */
  readonly concurrency?: number;
  /** Shift `Date` in this process with the clock of the engine. Default true. */
  readonly moveDate?: boolean;
}

export interface DrainOptions {
  /** Milliseconds of real time after which an error with the unfinished work is thrown. Default 10,000. */
  readonly timeoutInMs?: number;
}

export interface TestKit {
  /** The address of the engine. The SDK is already configured with it, and with the key of the test's environment. */
  readonly url: string;
  readonly secretKey: string;
  readonly projectRef: string;
  /** The engine's time. */
  now(): Date;
  /**
   * Executes all runs that can execute now, including those that they trigger, until none can. Time does not advance, so delays, waits and
   * pauses before retries do not end. Returns the unfinished runs, each with a description of its wait.
   *
   * @example
   * await order.trigger({ id: 1 });
   * const waiting = await kit.drain();
   */
  drain(options?: DrainOptions): Promise<readonly WaitingRun[]>;
  /**
   * Advances the clock. Everything that becomes due in between happens in order and on time: waits and delays end, schedules fire, retries
   * start, and runs expire. Returns like `drain`, when no run can execute at the new time.
   *
   * @example
   * await kit.advance('3 days');
   */
  advance(time: Duration, options?: DrainOptions): Promise<readonly WaitingRun[]>;
  /** The runs of a task, oldest first, with payload, output and error. */
  runsOf<T extends AnyTask>(task: T): Promise<Run<TaskOutput<T>>[]>;
  readonly faults: Faults;
  /** Switches to a new, empty environment, with the same tasks. The clock is not reset. */
  reset(): Promise<void>;
  /** Throws if the test has left unfinished work: a call without `await`, code of a run that still executes, or a fault that did not happen. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** The kit of this test file, for matchers. */
let current: Kit | undefined;

/** Throws when there is none. */
export function currentKit(): Kit {
  if (current) return current;
  throw new Error(
    'No test kit: call useMillrace({ tasks }) at the top of the test file, or await createTestKit({ tasks }) first.',
  );
}

/**
 * Connects this process to the test engine and starts it if necessary. For tests with vitest, jest and node:test, `useMillrace` of
 * `@millrace/testing/vitest`, `/jest` and `/node` is simpler.
 *
 * @example
 * const kit = await createTestKit({ tasks: [order, sendMail] });
 * await order.trigger({ id: 1 });
 * await kit.drain();
 * await kit.close();
 */
export async function createTestKit(options: TestKitOptions): Promise<TestKit> {
  if (current) {
    throw new Error(
      'This process already has a test kit: close it first with await kit.close(). With useMillrace, pass all tasks to one kit, or call it in a separate describe(…) for each.',
    );
  }
  const taskSet = readTasks(options?.tasks, options);
  const { channel, url } = await openInstallation(taskSet.manifests);
  try {
    const kit = new Kit(channel, url, taskSet, options);
    await kit.start();
    current = kit;
    return kit;
  } catch (error) {
    channel.close();
    throw error;
  }
}

const maxTries = 5;

/** A host may end at the moment when this process joins it. In that case, the next one is joined. */
async function openInstallation(tasks: HostCalls['open']['input']['tasks']) {
  for (let tries = 1; ; tries += 1) {
    const channel = await joinHost();
    try {
      return { channel, ...(await channel.call('open', { tasks })) };
    } catch (error) {
      channel.close();
      if (!(error instanceof HostLost) || tries === maxTries) throw error;
    }
  }
}

/**
 * Turns of the event loop in which a started call reaches the gateway. Both are in this process; no time limit would be reliable under
 * load.
 */
const lateTurns = 20;

/** Does not use `Date`, which is shifted. */
const realNow = (): number => performance.timeOrigin + performance.now();

export class Kit implements TestKit {
  readonly #channel: Channel;
  readonly #environment: TestEnvironment;
  readonly #progress: Progress;
  readonly #movesDate: boolean;
  readonly pending = new PendingCalls();
  /** The engine's time minus that of this machine. */
  #shiftMs = 0;
  #restoreDate: (() => void) | undefined;

  constructor(
    channel: Channel,
    engineUrl: string,
    taskSet: ReturnType<typeof readTasks>,
    { concurrency = 100, moveDate: movesDate = true }: TestKitOptions,
  ) {
    this.#channel = channel;
    this.#movesDate = movesDate;
    this.#environment = new TestEnvironment({
      channel,
      engineUrl,
      taskSet,
      concurrency,
      now: () => this.#nowMs(),
      learn: (now) => {
        this.#shiftMs = now - realNow();
      },
    });
    this.#progress = new Progress(this.#environment);
  }

  get url(): string {
    return this.#environment.url;
  }

  get secretKey(): string {
    return this.#environment.project.secretKey;
  }

  get projectRef(): string {
    return this.#environment.project.projectRef;
  }

  get faults(): Faults {
    return this.#environment.faults;
  }

  async start(): Promise<void> {
    await this.#environment.start();
    if (this.#movesDate) this.#restoreDate = moveDate(() => Math.round(this.#shiftMs));
  }

  now(): Date {
    return new Date(this.#nowMs());
  }

  drain({ timeoutInMs }: DrainOptions = {}): Promise<readonly WaitingRun[]> {
    return this.pending.track('kit.drain()', async () => {
      await this.#progress.untilIdle(timeoutInMs);
      return readWaiting();
    });
  }

  advance(time: Duration, { timeoutInMs }: DrainOptions = {}): Promise<readonly WaitingRun[]> {
    return this.pending.track(`kit.advance(${JSON.stringify(time)})`, async () => {
      await this.#progress.advance(durationMs(time), timeoutInMs);
      return readWaiting();
    });
  }

  runsOf<T extends AnyTask>(task: T): Promise<Run<TaskOutput<T>>[]> {
    return this.pending.track(`kit.runsOf(${task?.id})`, () => readRuns(task));
  }

  reset(): Promise<void> {
    return this.pending.track('kit.reset()', () => this.#environment.renew());
  }

  async check(): Promise<void> {
    const calls = this.pending.take();
    const requestsUntilNow = this.#environment.gateway.watch();
    // The request of a call without `await` may not have been sent yet.
    for (let turn = 0; turn < lateTurns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    const requests = [...new Set(requestsUntilNow())];
    const executing = this.#environment.runner.executing;
    const unused = this.#environment.faults.takeUnused();
    const sentences = [
      ...calls.map((call) => `${call} had not finished: write \`await\` before it.`),
      ...(calls.length > 0
        ? []
        : requests.map(
            (request) =>
              `The request ${request} had not finished: write \`await\` before the call that sends it.`,
          )),
      ...(calls.length > 0
        ? []
        : executing.map(
            ({ run, task }) =>
              `The code of task "${task}" (${run}) was still executing: write \`await kit.drain()\` before the end of the test.`,
          )),
      ...unused,
    ];
    if (sentences.length > 0) throw new Error(`The test ended too early.\n${sentences.join('\n')}`);
  }

  async close(): Promise<void> {
    if (current === this) current = undefined;
    this.#restoreDate?.();
    this.#environment.close();
    this.#channel.close();
    // Lets the sockets close.
    await sleep(0);
  }

  #nowMs(): number {
    return Math.round(realNow() + this.#shiftMs);
  }
}

/** The runs of a task, oldest first. */
export async function readRuns<T extends AnyTask>(task: T): Promise<Run<TaskOutput<T>>[]> {
  if (typeof task?.id !== 'string') throw new TypeError('runsOf requires a task, as returned by task(…).');
  const ids: string[] = [];
  for await (const { id } of runs.list({ taskIdentifier: task.id, limit: 100 })) ids.push(id);
  const found: Run<TaskOutput<T>>[] = [];
  for (const id of ids.toReversed()) found.push(await runs.retrieve<T>(id));
  return found;
}
