import { Failure, Skeleton } from '../../parts/failure.tsx';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { RunActions } from './run-actions.tsx';
import { RunView } from './run-view.tsx';
import { useRun } from './use-run.ts';

/** A run next to a list. */
export default function RunPanel({ runId }: { readonly runId: string }) {
  const run = useRun(runId);
  if (!run.data)
    return run.error ? (
      <Failure error={run.error} onRetry={() => void run.refetch()} />
    ) : (
      <Skeleton lines={8} label="Loading the run" />
    );
  return (
    <div className="stack">
      <div className="row spread wrap">
        <h2 className="cut">{visibleControls(run.data.taskIdentifier)}</h2>
        <div className="row wrap">
          <RunActions run={run.data} />
        </div>
      </div>
      <RunView run={run.data} />
    </div>
  );
}
