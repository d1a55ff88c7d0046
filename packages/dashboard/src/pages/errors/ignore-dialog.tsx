import { useState } from 'react';
import { useAct } from '../../api/ask.ts';
import { toast } from '../../api/toasts.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { fieldError, SelectField, TextField } from '../../parts/form/field.tsx';

interface IgnoreDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly errorId: string;
}

const hourMs = 3_600_000;
const durations = [
  { value: '', label: 'Permanently' },
  { value: String(hourMs), label: 'For an hour' },
  { value: String(6 * hourMs), label: 'For six hours' },
  { value: String(24 * hourMs), label: 'For a day' },
  { value: String(7 * 24 * hourMs), label: 'For a week' },
  { value: String(30 * 24 * hourMs), label: 'For 30 days' },
];

/** Asks how long to ignore the error; the first condition that is met ends the ignore. */
export const IgnoreDialog = ({ isOpen, onClose, errorId }: IgnoreDialogProps) => (
  <Dialog isOpen={isOpen} onClose={onClose} title="Ignore this error">
    <IgnoreForm errorId={errorId} onClose={onClose} />
  </Dialog>
);

/** The entered number, undefined if it is empty, null if it is invalid. */
export function numberOf(text: string, isWhole: boolean): number | undefined | null {
  const trimmed = text.trim().replaceAll(',', '');
  if (trimmed === '') return undefined;
  return (isWhole ? /^\d{1,15}$/ : /^\d{1,7}(?:\.\d{1,4})?$/).test(trimmed) && Number(trimmed) > 0
    ? Number(trimmed)
    : null;
}

function IgnoreForm({ errorId, onClose }: Omit<IgnoreDialogProps, 'isOpen'>) {
  const [duration, setDuration] = useState('');
  const [total, setTotal] = useState('');
  const [rate, setRate] = useState('');
  const [reason, setReason] = useState('');
  const unresolve = useAct('unresolveError', { done: 'Unresolved again' });
  const ignore = useAct('ignoreError', {
    showsErrors: true,
    onDone: () => {
      onClose();
      toast({ title: 'Error ignored', undo: () => unresolve.mutate({ params: { errorId } }) });
    },
  });
  const [totalOccurrences, occurrenceRate] = [numberOf(total, true), numberOf(rate, false)];
  const isWrong = totalOccurrences === null || occurrenceRate === null;
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (isWrong) return;
        ignore.mutate({
          params: { errorId },
          body: {
            ...(duration !== '' && { duration: Number(duration) }),
            ...(totalOccurrences !== undefined && { totalOccurrences }),
            ...(occurrenceRate !== undefined && { occurrenceRate }),
            ...(reason.trim() !== '' && { reason: reason.trim() }),
          },
        });
      }}
    >
      <p className="muted">The error becomes unresolved again when the first of these is reached.</p>
      <SelectField
        label="Duration"
        options={durations}
        value={duration}
        onChange={(event) => setDuration(event.target.value)}
      />
      <TextField
        label="Or until it has occurred this many more times"
        inputMode="numeric"
        placeholder="such as 100"
        value={total}
        onChange={(event) => setTotal(event.target.value)}
        error={
          totalOccurrences === null
            ? 'Enter a whole number above 0.'
            : fieldError(ignore.error, 'totalOccurrences')
        }
      />
      <TextField
        label="Or until it occurs more than this many times a minute"
        inputMode="decimal"
        placeholder="such as 10"
        value={rate}
        onChange={(event) => setRate(event.target.value)}
        error={
          occurrenceRate === null
            ? 'Enter a number above 0, such as 10 or 0.5.'
            : fieldError(ignore.error, 'occurrenceRate')
        }
      />
      <TextField
        label="Reason"
        placeholder="for other members"
        maxLength={1_000}
        value={reason}
        onChange={(event) => setReason(event.target.value)}
        error={fieldError(ignore.error, 'reason')}
      />
      {ignore.error && (
        <p className="field-error" role="alert">
          {ignore.error.message}
        </p>
      )}
      <div className="form-actions">
        <Button type="submit" variant="main" isBusy={ignore.isPending} disabled={isWrong}>
          Ignore the error
        </Button>
      </div>
    </form>
  );
}
