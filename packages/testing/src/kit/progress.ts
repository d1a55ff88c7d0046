import { setTimeout as sleep } from 'node:timers/promises';
import type { HostCalls } from '../host/protocol.ts';
import type { TestEnvironment } from './engine.ts';
import { readWaiting, waitingText } from './waiting.ts';

type Work = HostCalls['work']['reply'];

const defaultTimeoutMs = 10_000;

/** If no queued run is claimed for this many milliseconds, the engine is queried for the reason. */
const unclaimedMs = 20;

/** A run of this kind is about to start. */
const aboutToStart: ReadonlySet<string> = new Set(['waiting_its_turn', 'no_runner', 'not_waiting']);

/** Lets everything happen that can happen at the engine's current time and advances that time. */
export class Progress {
  readonly #environment: TestEnvironment;

  constructor(environment: TestEnvironment) {
    this.#environment = environment;
  }

  async untilIdle(timeoutMs = defaultTimeoutMs): Promise<void> {
    await this.#untilIdle(performance.now() + timeoutMs, timeoutMs);
  }

  /** Like `untilIdle`, at each intermediate time at which something is due, and at the end. */
  async advance(ms: number, timeoutMs = defaultTimeoutMs): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    let work = await this.#untilIdle(deadline, timeoutMs);
    const target = work.now + ms;
    while (work.next && work.next.at <= target) {
      await this.#environment.moveTo(work.next.at, [work.next.job]);
      work = await this.#untilIdle(deadline, timeoutMs);
    }
    await this.#environment.moveTo(target, []);
    await this.#untilIdle(deadline, timeoutMs);
  }

  /** The remaining work when nothing can happen now. */
  async #untilIdle(deadline: number, timeoutMs: number): Promise<Work> {
    let unclaimed: { readonly fence: number; readonly since: number } | undefined;
    for (let pauseMs = 0; ; pauseMs = Math.min(5, pauseMs + 1)) {
      const { runner } = this.#environment;
      await runner.connected();
      if (isIdle(this.#environment)) {
        const { begun } = runner;
        const work = await this.#environment.work();
        const isQuiet = isIdle(this.#environment) && runner.begun === begun;
        if (work.next && work.next.at <= work.now) {
          await this.#environment.moveTo(0, [work.next.job]);
          unclaimed = undefined;
        } else if (isQuiet && work.executing === 0 && work.resuming === 0) {
          if (work.queued === 0) return work;
          if (unclaimed?.fence !== work.lastFence)
            unclaimed = { fence: work.lastFence, since: performance.now() };
          else if (performance.now() - unclaimed.since > unclaimedMs && (await this.#isHeldBack(work)))
            return work;
        } else unclaimed = undefined;
      }
      if (performance.now() > deadline) throw await this.#tooLong(timeoutMs);
      await sleep(pauseMs);
    }
  }

  /** Whether a limit or a pause blocks all queued runs, and nothing was claimed during the check. */
  async #isHeldBack({ lastFence, queued }: Work): Promise<boolean> {
    const waiting = await readWaiting();
    if (waiting.length === 0 || waiting.some(({ reason }) => aboutToStart.has(reason))) return false;
    const now = await this.#environment.work();
    return now.lastFence === lastFence && now.queued === queued && now.executing === 0;
  }

  async #tooLong(timeoutMs: number): Promise<Error> {
    const { executing } = this.#environment.runner;
    const waiting = await readWaiting();
    const first = executing[0];
    const advice = first
      ? `The code of task "${first.task}" has not ended: check its pending awaits, or pass a longer timeoutInMs to drain and advance.`
      : 'Pass a longer timeoutInMs to drain and advance, or advance the clock in smaller steps.';
    return new Error(
      `After ${timeoutMs / 1_000} s, some work had not finished. ${advice}\n${waitingText(waiting)}`,
    );
  }
}

const isIdle = ({ runner }: TestEnvironment): boolean => runner.executing.length === 0 && runner.isConfirmed;
