import type { RunFilterQuery } from '@millrace/contract/filter';
import { useState } from 'react';
import { useAct, useAsk } from '../../api/ask.ts';
import { useMay } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { countText } from '../../parts/count-text.ts';
import { BulkBar } from '../../parts/table/bulk-bar.tsx';
import type { Selection } from '../../parts/table/selection.ts';
import { bulkFilterOf } from './bulk-filter.ts';

/** Maximum number of runs that can be listed individually. */
const maxNamed = 500;

interface BulkActionsProps {
  readonly selection: Selection;
  readonly query: RunFilterQuery;
  /** The number of filter matches: `412` or `10,000+`. */
  readonly total: string | undefined;
  readonly onStart: (bulkActionId: string) => void;
}

/** Cancels or replays the selected runs, or all that match the filter. The confirmation contains their number. */
export function BulkActions({ selection, query, total, onStart }: BulkActionsProps) {
  const [dialog, setDialog] = useState<'cancel' | 'replay'>();
  const may = useMay();
  const create = useAct('createBulkAction', {
    showsErrors: true,
    onDone: ({ id }) => {
      setDialog(undefined);
      selection.clear();
      onStart(id);
    },
  });
  if (!may('createBulkAction')) return null;
  const filter = bulkFilterOf(query);
  const isTooMany = !selection.isAll && selection.ids.size > maxNamed;
  const what = countText(selection.isAll ? (total ?? '') : selection.ids.size, 'run');
  const isCancel = dialog === 'cancel';
  return (
    <>
      <BulkBar selection={selection} noun="run" total={total}>
        <Button icon="cancel" variant="danger" disabled={isTooMany} onClick={() => setDialog('cancel')}>
          Cancel {what}
        </Button>
        <Button icon="replay" disabled={isTooMany} onClick={() => setDialog('replay')}>
          Replay {what}
        </Button>
        {isTooMany && (
          <span className="muted small">
            At most {maxNamed} can be selected; select all that match instead.
          </span>
        )}
      </BulkBar>
      <Confirm
        isOpen={dialog !== undefined}
        onClose={() => setDialog(undefined)}
        title={`${isCancel ? 'Cancel' : 'Replay'} ${what}?`}
        action={`${isCancel ? 'Cancel' : 'Replay'} ${what}`}
        isHarmless={!isCancel}
        isBusy={create.isPending}
        error={create.error?.message}
        onConfirm={() =>
          create.mutate({
            body: {
              action: dialog ?? 'cancel',
              ...(selection.isAll ? { filter } : { runIds: [...selection.ids] }),
            },
          })
        }
      >
        {isCancel
          ? 'Stops unfinished runs and all runs that they triggered. This cannot be undone. Ended runs are unchanged.'
          : 'Each run is triggered again with the same payload on the current version.'}
        {selection.isAll && ' Runs that match only later are not included.'}
      </Confirm>
    </>
  );
}

/** The progress of a bulk action, until it has ended. */
export function BulkProgress({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const action = useAsk(
    'retrieveBulkAction',
    { params: { bulkActionId: id } },
    { live: 1_000, keepPrevious: false },
  );
  const abort = useAct('abortBulkAction', { invalidates: ['retrieveBulkAction'] });
  if (!action.data) return null;
  const { type, status, counts } = action.data;
  const done = counts.success + counts.failure;
  const isOver = status !== 'PENDING';
  const verb = type === 'CANCEL' ? ['Canceling', 'Canceled'] : ['Replaying', 'Replayed'];
  return (
    <div className={`notice ${isOver ? 'tone-good' : 'tone-busy'}`} role="status">
      <span className="strong">
        {isOver
          ? `${verb[1]} ${countText(counts.success, 'run')}`
          : `${verb[0]} ${countText(counts.total, 'run')}`}
      </span>
      {!isOver && (
        <progress max={Math.max(1, counts.total)} value={done} aria-label="Progress">
          {done}
        </progress>
      )}
      <span className="muted number">
        {isOver ? '' : `${done.toLocaleString('en')} done. `}
        {counts.failure > 0 && `${countText(counts.failure, 'run')} had already ended or failed to start.`}
        {status === 'ABORTED' && ' Stopped early.'}
      </span>
      {isOver ? (
        <Button variant="plain" onClick={onClose}>
          Dismiss
        </Button>
      ) : (
        <Button
          variant="plain"
          isBusy={abort.isPending}
          onClick={() => abort.mutate({ params: { bulkActionId: id } })}
        >
          Stop
        </Button>
      )}
    </div>
  );
}
