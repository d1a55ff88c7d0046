import type { BulkAction } from '@millrace/contract';
import { useState } from 'react';
import { useAct } from '../../api/ask.ts';
import { useMay } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { countText } from '../../parts/count-text.ts';
import { doneOf, verbs } from './badges.ts';

/** Stops a bulk action after a confirmation with the number of remaining runs. */
export function StopButton({ action }: { readonly action: BulkAction }) {
  const [isAsking, setAsking] = useState(false);
  const may = useMay();
  const abort = useAct('abortBulkAction', {
    invalidates: ['listBulkActions', 'retrieveBulkAction'],
    showsErrors: true,
    done: 'Bulk action stopped',
    onDone: () => setAsking(false),
  });
  if (!may('abortBulkAction')) return null;
  const left = Math.max(0, action.counts.total - doneOf(action));
  return (
    <>
      {action.status === 'PENDING' && (
        <Button icon="cancel" variant="danger" onClick={() => setAsking(true)}>
          Stop
        </Button>
      )}
      <Confirm
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={`Stop before ${countText(left, 'more run')} ${left === 1 ? 'is' : 'are'} ${verbs[action.type].past.toLowerCase()}?`}
        action="Stop the bulk action"
        isBusy={abort.isPending}
        error={abort.error?.message}
        onConfirm={() => abort.mutate({ params: { bulkActionId: action.id } })}
      >
        {countText(doneOf(action), 'run')} {doneOf(action) === 1 ? 'is' : 'are'} done and not reverted. A
        stopped action cannot be resumed; you can start another one.
      </Confirm>
    </>
  );
}
