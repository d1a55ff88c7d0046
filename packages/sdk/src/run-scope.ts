import type { LogLine } from '@millrace/contract/runner';

/** A line for a run's log, before it is known whose. */
export type RunLogLine = Omit<LogLine, 'run' | 'attempt'>;

/** The attempt that the current async context belongs to. */
export interface RunScope {
  readonly run: string;
  readonly attempt: number;
  /** Takes a line for the run's log. */
  readonly onLog: (line: RunLogLine) => void;
}

/** What of an AsyncLocalStorage is used; the executor puts one in place, elsewhere there is none. */
export interface RunScopes {
  getStore(): RunScope | undefined;
  run<R>(scope: RunScope, act: () => R): R;
}

// Global, because a task's bundle has a copy of this package of its own.
const slot = Symbol.for('@millrace/sdk/run-scopes');
const holder = globalThis as { [slot]?: RunScopes };

/** The scopes of this process, made by the first that needs them. */
export function runScopes(make: () => RunScopes): RunScopes {
  holder[slot] ??= make();
  return holder[slot];
}

/** The attempt that the current async context belongs to; undefined outside of runs. */
export const currentRun = (): RunScope | undefined => holder[slot]?.getStore();
