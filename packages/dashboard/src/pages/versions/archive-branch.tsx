import type { Branch } from '@millrace/contract';
import { ApiError } from '../../api/api-error.ts';
import { useAct } from '../../api/ask.ts';
import { useEnvironmentPath } from '../../api/environment.ts';
import { toast } from '../../api/toasts.ts';
import { countText } from '../../parts/count-text.ts';
import { Confirm } from '../../parts/dialog/confirm.tsx';

/** Archives a branch. If it has unfinished runs, it first requests confirmation, with their number, before canceling them. */
export function ArchiveBranch({
  branch,
  onClose,
}: {
  readonly branch: Branch;
  readonly onClose: () => void;
}) {
  const { projectRef } = useEnvironmentPath();
  const archive = useAct('archiveBranch', {
    invalidates: ['listBranches', 'listEnvironments'],
    inEnvironment: false,
    showsErrors: true,
    onDone: ({ isArchived, canceled }) => {
      const ofRuns = canceled === 0 ? '' : `, ${countText(canceled, 'run')} canceled`;
      if (!isArchived) return;
      toast({ title: `Branch ${branch.name} archived${ofRuns}` });
      onClose();
    },
  });
  const hasRuns = archive.error instanceof ApiError && archive.error.code === 'branch_has_runs';
  const isStopping = archive.data?.isArchived === false;
  const cancels = hasRuns || isStopping;
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={`Archive the branch ${branch.name}?`}
      action={cancels ? 'Cancel its runs and archive it' : `Archive ${branch.name}`}
      typed={branch.name}
      isBusy={archive.isPending}
      error={hasRuns ? undefined : archive.error?.message}
      onConfirm={() =>
        archive.mutate({
          params: { projectRef },
          body: { branch: branch.name, env: branch.env, cancelRuns: cancels },
        })
      }
    >
      <div className="stack">
        <p>
          Its keys and tokens end immediately, its name can be reused, and its data is deleted after 30 days.
          This cannot be undone.
        </p>
        {hasRuns && (
          <p className="notice tone-warn">
            <span>{archive.error?.message}</span>
          </p>
        )}
        {isStopping && (
          <p className="notice tone-busy" role="status">
            <span>
              {countText(archive.data?.liveRuns ?? 0, 'run')} {archive.data?.liveRuns === 1 ? 'is' : 'are'}{' '}
              still stopping. Try again in a moment.
            </span>
          </p>
        )}
      </div>
    </Confirm>
  );
}
