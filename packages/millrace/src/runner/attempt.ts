import type { Assignment } from '@millrace/contract/runner';
import type { Executor } from './executor.ts';

/** One attempt that this runner holds and has not settled. */
export interface Attempt {
  readonly assignment: Assignment;
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
}

export const newAttempt = (assignment: Assignment, now: number): Attempt => ({
  assignment,
  receivedAt: now,
  executor: null,
  variablesRevision: undefined,
  startedAt: null,
  touched: false,
  suspect: false,
  failedStarts: 0,
  canceledAt: null,
});
