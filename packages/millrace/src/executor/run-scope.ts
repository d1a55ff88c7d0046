import type { LogLine } from '@millrace/contract/runner';

export interface RunScope {
  readonly run: string;
  readonly attempt: number;
  readonly onLog: (line: Omit<LogLine, 'run' | 'attempt'>) => void;
}

/** Where the SDK keeps the async contexts of runs; registered, so that it is one place for all copies. */
const slot = Symbol.for('@millrace/sdk/run-scopes');

/**
 * Acts as code of a run: listeners of an abort run in the context of whoever aborts, and what they log or throw is the run's.
 */
export function inScope(scope: RunScope, act: () => void): void {
  const scopes = (globalThis as { [slot]?: { run: (scope: RunScope, act: () => void) => void } })[slot];
  if (scopes) scopes.run(scope, act);
  else act();
}
