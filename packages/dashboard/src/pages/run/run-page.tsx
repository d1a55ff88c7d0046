import { useParams } from '@tanstack/react-router';
import { ApiError } from '../../api/api-error.ts';
import { Empty } from '../../parts/empty.tsx';
import { Failure, Skeleton } from '../../parts/failure.tsx';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { PageLink } from '../../parts/page-link.tsx';
import { Page } from '../../parts/page.tsx';
import { Status } from '../../parts/status/status.tsx';
import { Time } from '../../parts/time/time.tsx';
import { RunActions } from './run-actions.tsx';
import { RunView } from './run-view.tsx';
import { useRun } from './use-run.ts';

/** One run: its timeline, the reason why it waits, its logs and output. */
export function RunPage() {
  const { runId = '' } = useParams({ strict: false }) as { runId?: string };
  const run = useRun(runId);
  if (!run.data)
    return (
      <Page title="Run">
        {run.error instanceof ApiError && run.error.status === 404 ? (
          <Empty title="Run not found in this environment." action={<PageLink to="/runs">All runs</PageLink>}>
            It may belong to another environment, or have been deleted after its retention period.
          </Empty>
        ) : run.error ? (
          <Failure error={run.error} onRetry={() => void run.refetch()} />
        ) : (
          <Skeleton lines={8} label="Loading the run" />
        )}
      </Page>
    );
  const { data } = run;
  return (
    <Page
      title={`${data.taskIdentifier} ${data.id}`}
      heading={
        <span className="run-heading">
          <Status status={data.status} compact />
          <PageLink to={`/tasks/${encodeURIComponent(data.taskIdentifier)}`} className="heading-link">
            {visibleControls(data.taskIdentifier)}
          </PageLink>
        </span>
      }
      summary={
        data.erasedAt !== undefined ? (
          <>
            Data erased <Time at={data.erasedAt} />
          </>
        ) : data.description === undefined ? undefined : (
          visibleControls(data.description)
        )
      }
      actions={<RunActions run={data} />}
    >
      <RunView run={data} />
    </Page>
  );
}
