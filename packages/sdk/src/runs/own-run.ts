import { currentRun } from '../run-scope.ts';
import { runId, type RunReference } from './run.ts';

/** Which run is meant. */
export interface OfRun {
  /** Default: the run that calls. */
  run?: RunReference;
}

/** The run that is named, or the one whose code calls. */
export function ownRunId({ run }: OfRun): string {
  if (run !== undefined) return runId(run);
  const current = currentRun();
  if (current) return current.run;
  throw new TypeError('This is not called inside a run: name one, as in { run: "run_…" }.');
}

/** Proof of the attempt that calls, where it calls about its own run. */
export function ownFence(id: string): number | undefined {
  const current = currentRun();
  return current?.run === id ? current.fence : undefined;
}
