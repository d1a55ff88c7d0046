import { currentRun } from '../run-scope.ts';
import { runId, type RunReference } from './run.ts';

/** Selects a run. */
export interface OfRun {
  /** Default: the calling run. */
  run?: RunReference;
}

/** The given run, or the one whose code makes the call. */
export function ownRunId({ run }: OfRun): string {
  if (run !== undefined) return runId(run);
  const current = currentRun();
  if (current) return current.run;
  throw new TypeError('This call is outside a run: specify the run, as in { run: "run_…" }.');
}

/** The fence of the calling attempt, for calls about its own run. */
export function ownFence(id: string): number | undefined {
  const current = currentRun();
  return current?.run === id ? current.fence : undefined;
}
