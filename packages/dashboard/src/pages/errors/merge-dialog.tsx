import { useDeferredValue, useState } from 'react';
import { useAct, useAsk } from '../../api/ask.ts';
import { Button } from '../../parts/button.tsx';
import { countText } from '../../parts/count-text.ts';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { Skeleton } from '../../parts/failure.tsx';
import { TextField } from '../../parts/form/field.tsx';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { Time } from '../../parts/time/time.tsx';
import type { ErrorDetail } from './error-detail.ts';

interface MergeDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly group: ErrorDetail;
}

/** Selects other groups of the task with the same cause. */
export const MergeDialog = ({ isOpen, onClose, group }: MergeDialogProps) => (
  <Dialog isOpen={isOpen} onClose={onClose} title="Merge other errors into this one" isWide>
    <MergeForm group={group} onClose={onClose} />
  </Dialog>
);

function MergeForm({ group, onClose }: Omit<MergeDialogProps, 'isOpen'>) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const search = useDeferredValue(text).trim();
  const found = useAsk('listErrors', {
    query: {
      'filter[taskIdentifier]': group.taskIdentifier.includes(',') ? undefined : group.taskIdentifier,
      'filter[search]': search || undefined,
      'page[size]': 50,
    },
  });
  const merge = useAct('mergeErrors', { showsErrors: true, onDone: onClose, done: 'Errors merged' });
  const others = found.data?.data.filter(
    ({ id, taskIdentifier }) => id !== group.id && taskIdentifier === group.taskIdentifier,
  );
  const toggle = (id: string): void =>
    setChosen((before) => {
      const next = new Set(before);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        merge.mutate({ params: { errorId: group.id }, body: { errors: [...chosen] } });
      }}
    >
      <p className="muted">
        Errors of {visibleControls(group.taskIdentifier)}. The selected errors, past and future, count for
        this group. It keeps its state, and you can split them again.
      </p>
      <TextField
        label="Find"
        placeholder="Part of the type or message"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <ul className="card merge-list">
        {others === undefined ? (
          <li className="card-note">
            <Skeleton lines={4} />
          </li>
        ) : others.length === 0 ? (
          <li className="card-note muted">
            {search === '' ? 'This task has no other errors.' : 'No other errors of this task match.'}
          </li>
        ) : (
          others.map(({ id, errorType, errorMessage, sampleMessage = errorMessage, count, lastSeen }) => (
            <li key={id}>
              <label className="merge-item">
                <input
                  type="checkbox"
                  className="check-box"
                  checked={chosen.has(id)}
                  onChange={() => toggle(id)}
                />
                <span className="cut">
                  <span className="strong">{visibleControls(errorType)}</span>{' '}
                  {visibleControls(sampleMessage.slice(0, 300))}
                </span>
                <span className="muted small number">
                  {count.toLocaleString('en')}×, <Time at={lastSeen} />
                </span>
              </label>
            </li>
          ))
        )}
      </ul>
      {merge.error && (
        <p className="field-error" role="alert">
          {merge.error.message}
        </p>
      )}
      <div className="form-actions">
        <Button type="submit" variant="main" isBusy={merge.isPending} disabled={chosen.size === 0}>
          {chosen.size === 0 ? 'Merge' : `Merge ${countText(chosen.size, 'error')} into this one`}
        </Button>
      </div>
    </form>
  );
}
