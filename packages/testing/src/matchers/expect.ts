import type { AnyTask, TaskInput, TaskOutput } from '@millrace/sdk';
import { anything, completed, failed, triggered, type Equals, type Verdict } from './assert.ts';

interface Context {
  readonly equals: Equals;
}

/** The matchers for `expect.extend`. */
export const matchers = {
  toHaveTriggered(this: Context, task: unknown, ...args: unknown[]): Promise<Verdict> {
    return triggered(task, args[0], args.length > 1 ? args[1] : anything, this.equals);
  },
  toHaveCompleted(this: Context, task: unknown, ...args: unknown[]): Promise<Verdict> {
    return completed(task, args.length > 0 ? args[0] : anything, this.equals);
  },
  toHaveFailed(this: Context, task: unknown, error?: string | RegExp): Promise<Verdict> {
    return failed(task, error);
  },
};

/** The assertions of `expect(task)`. All of them must be awaited. */
export interface TaskMatchers {
  /** A run of the task has triggered one of the other, with this payload. */
  toHaveTriggered<T extends AnyTask>(task: T, payload?: TaskInput<T>): Promise<void>;
  /** A run of the task has completed, with this output. */
  toHaveCompleted(output?: TaskOutput<AnyTask>): Promise<void>;
  /** A run of the task has failed, with an error whose message contains this text or matches. */
  toHaveFailed(error?: string | RegExp): Promise<void>;
}
