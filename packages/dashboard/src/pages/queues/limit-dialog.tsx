import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { TextField } from '../../parts/form/field.tsx';

interface LimitDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly hint: string;
  readonly limit: number | null;
  /** Number of waiting runs that a limit of 0 would block. */
  readonly waiting: number;
  readonly isBusy: boolean;
  readonly error: string | undefined;
  readonly onSubmit: (limit: number) => void;
  /** Removes the override. */
  readonly reset?: { readonly label: string; readonly onReset: () => void } | undefined;
}

const maxLimit = 100_000;

/** Prompts for the concurrency limit. */
export const LimitDialog = ({ isOpen, onClose, title, ...form }: LimitDialogProps) => (
  <Dialog isOpen={isOpen} onClose={onClose} title={title}>
    <LimitForm {...form} />
  </Dialog>
);

function LimitForm({
  hint,
  limit,
  waiting,
  isBusy,
  error,
  onSubmit,
  reset,
}: Omit<LimitDialogProps, 'isOpen' | 'onClose' | 'title'>) {
  const [text, setText] = useState(limit === null ? '' : String(limit));
  const newLimit = /^\d{1,6}$/.test(text.trim()) ? Number(text) : undefined;
  const isValid = newLimit !== undefined && newLimit <= maxLimit;
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (isValid) onSubmit(newLimit);
      }}
    >
      <TextField
        label="Concurrent runs"
        inputMode="numeric"
        value={text}
        onChange={(event) => setText(event.target.value)}
        hint={hint}
        error={
          text.trim() !== '' && !isValid
            ? `Enter a whole number from 0 to ${maxLimit.toLocaleString('en')}.`
            : error
        }
      />
      {newLimit === 0 && (
        <p className="notice tone-warn">
          <span>
            With 0, no run starts: {waiting.toLocaleString('en')} waiting runs and all new ones remain queued.
          </span>
        </p>
      )}
      <div className="form-actions">
        {reset && (
          <Button variant="plain" onClick={reset.onReset}>
            {reset.label}
          </Button>
        )}
        <Button type="submit" variant="main" isBusy={isBusy} disabled={!isValid}>
          {isValid ? `Set the limit to ${newLimit.toLocaleString('en')}` : 'Set the limit'}
        </Button>
      </div>
    </form>
  );
}
