import { useAct, useAsk } from '../../api/ask.ts';
import { useEnvironmentPath } from '../../api/environment.ts';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { Failure, Skeleton } from '../../parts/failure.tsx';
import { countText } from '../../parts/count-text.ts';
import { Changes } from './difference.tsx';
import { outdated } from './revisions.ts';

interface RollBackProps {
  /** A revision; undefined while the dialog is closed. */
  readonly to: number | undefined;
  readonly onClose: () => void;
}

/** Requests confirmation before the variables are restored to a revision and shows the changes. */
export function RollBack({ to, onClose }: RollBackProps) {
  const params = useEnvironmentPath();
  const isOpen = to !== undefined && Number.isInteger(to) && to >= 0;
  const newest = useAsk('listVariableRevisions', { params, query: { 'page[size]': 1 } }, { enabled: isOpen });
  const current = newest.data?.data[0]?.revision;
  const difference = useAsk(
    'compareVariableRevisions',
    { params, query: { from: current, to } },
    { enabled: isOpen && current !== undefined, keepPrevious: false },
  );
  const roll = useAct('rollBackVariables', {
    invalidates: outdated,
    showsErrors: true,
    done: ({ changes, revision }) =>
      `${countText(changes.length, 'variable')} rolled back. That is revision ${revision}`,
    onDone: onClose,
  });
  const changes = difference.data?.changes;
  const what = changes === undefined ? '' : countText(changes.length, 'variable');
  return (
    <Confirm
      isOpen={isOpen}
      onClose={() => {
        roll.reset();
        onClose();
      }}
      title={`Roll back to revision ${to ?? ''}?`}
      action={changes?.length === 0 ? 'Nothing to roll back' : `Roll back ${what}`}
      isDisabled={changes === undefined || changes.length === 0}
      isBusy={roll.isPending}
      error={roll.error?.message}
      onConfirm={() => to !== undefined && roll.mutate({ params, body: { revision: to } })}
    >
      <div className="stack">
        <p>
          Restores the environment’s own variables to that revision. This creates a new revision, which can
          also be rolled back.
        </p>
        {difference.error ? (
          <Failure error={difference.error} onRetry={() => void difference.refetch()} />
        ) : changes === undefined ? (
          <Skeleton label="Loading the changes" />
        ) : (
          <Changes changes={changes} />
        )}
      </div>
    </Confirm>
  );
}
