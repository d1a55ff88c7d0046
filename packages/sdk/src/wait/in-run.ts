import { currentRun, type RunScope, type RunWaits } from '../run-scope.ts';
import { insideOfStep, outsideOfRun } from './misplaced.ts';

/** The waiting attempt. */
export interface WaitingRun {
  readonly run: string;
  readonly attempt: number;
  /** The version that it executes. */
  readonly version: string | undefined;
  readonly fence: number | undefined;
  readonly waits: RunWaits;
  /** Aborted when the attempt must stop. */
  readonly signal: AbortSignal | undefined;
}

/** The attempt to which the calling code belongs. Throws outside of runs. */
export function waitingRun(what: string): WaitingRun {
  const scope = currentRun();
  if (!scope) throw outsideOfRun(what);
  if (scope.step !== undefined) throw insideOfStep(what, scope.step);
  if (scope.signal?.aborted === true) throw new Error(`${what} does not work in a run that is stopping.`);
  const { waits } = scope;
  if (!waits)
    throw new Error(`${what} does not work here: the code runs without a runner that could suspend it.`);
  const { run, attempt, version, fence, signal } = scope;
  return { run, attempt, version, fence, waits, signal };
}

/** A counter for each kind of wait. It returns the same numbers when the code is executed again. */
export function nextOf(waits: RunWaits, name: string): number {
  const count = (waits.counts.get(name) ?? 0) + 1;
  waits.counts.set(name, count);
  return count;
}

/** The `waitKey` by which code that is executed again finds the objects that it created before. */
export const ownKey = ({ run, attempt }: Pick<RunScope, 'run' | 'attempt'>, what: string): string =>
  `${run}/${attempt} ${what}`;
