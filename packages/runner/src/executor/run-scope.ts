import type { LogLine } from '@millrace/contract/runner';

export interface RunScope {
  readonly run: string;
  readonly attempt: number;
  readonly onLog: (line: Omit<LogLine, 'run' | 'attempt'>) => void;
}

/** The registered symbol under which all copies of the SDK share the async contexts of runs. */
const slot = Symbol.for('@millrace/sdk/run-scopes');

/**
 * Runs `act` in the context of a run. Abort listeners run in the context of the code that aborts, and their output belongs to the run.
 */
export function inScope(scope: RunScope, act: () => void): void {
  const scopes = (globalThis as { [slot]?: { run: (scope: RunScope, act: () => void) => void } })[slot];
  if (scopes) scopes.run(scope, act);
  else act();
}
