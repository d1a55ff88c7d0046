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

const most = 100_000;

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
  const wanted = /^\d{1,6}$/.test(text.trim()) ? Number(text) : undefined;
  const isValid = wanted !== undefined && wanted <= most;
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (isValid) onSubmit(wanted);
      }}
    >
      <TextField
        label="Runs at once"
        inputMode="numeric"
        value={text}
        onChange={(event) => setText(event.target.value)}
        hint={hint}
        error={
          text.trim() !== '' && !isValid
            ? `Write a whole number from 0 to ${most.toLocaleString('en')}.`
            : error
        }
      />
      {wanted === 0 && (
        <p className="notice tone-warn">
          <span>
            With 0 nothing starts: {waiting.toLocaleString('en')} waiting runs and all new ones stay where
            they are.
          </span>
        </p>
      )}
      <div className="form-actions">
        {reset && (
          <Button look="plain" onClick={reset.onReset}>
            {reset.label}
          </Button>
        )}
        <Button type="submit" look="main" isBusy={isBusy} disabled={!isValid}>
          {isValid ? `Set the limit to ${wanted.toLocaleString('en')}` : 'Set the limit'}
        </Button>
      </div>
    </form>
  );
}
