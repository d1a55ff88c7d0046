import { AlertDialog } from '@base-ui/react/alert-dialog';
import { useState, type ReactNode } from 'react';
import { Button } from '../button.tsx';
import { focusBelow } from '../focus.ts';
import { TextField } from '../form/field.tsx';
import './dialog.css';

export interface ConfirmProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** The question, with the count: "Cancel 412 runs?" */
  readonly title: string;
  /** The consequences, and whether they can be undone. */
  readonly children: ReactNode;
  /** The label of the button, with the count: "Cancel 412 runs". */
  readonly action: string;
  readonly onConfirm: () => void;
  readonly isBusy?: boolean;
  /** For irreversible actions: a name to type first. */
  readonly typed?: string;
  /** Whether nothing is lost by it. */
  readonly isHarmless?: boolean;
  /** The action is not possible yet: its effect is not known, or a choice is required first. */
  readonly isDisabled?: boolean;
  /** The error message. */
  readonly error?: string | undefined;
}

/** The loaded part of `Confirm`. */
const ConfirmLoaded = ({
  isOpen,
  onClose,
  title,
  children,
  action,
  onConfirm,
  isBusy = false,
  typed,
  isHarmless = false,
  isDisabled = false,
  error,
}: ConfirmProps) => (
  <AlertDialog.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
    <AlertDialog.Portal>
      <AlertDialog.Backdrop className="backdrop" />
      <AlertDialog.Popup className="dialog" finalFocus={focusBelow}>
        <AlertDialog.Title className="dialog-title">{title}</AlertDialog.Title>
        <AlertDialog.Description render={<div />} className="dialog-text">
          {children}
        </AlertDialog.Description>
        <ConfirmForm
          action={action}
          onConfirm={onConfirm}
          isBusy={isBusy}
          typed={typed}
          isHarmless={isHarmless}
          isDisabled={isDisabled}
          error={error}
        />
      </AlertDialog.Popup>
    </AlertDialog.Portal>
  </AlertDialog.Root>
);

function ConfirmForm({
  action,
  onConfirm,
  isBusy = false,
  typed,
  isHarmless = false,
  isDisabled = false,
  error,
}: Pick<ConfirmProps, 'action' | 'onConfirm' | 'isBusy' | 'typed' | 'isHarmless' | 'isDisabled' | 'error'>) {
  const [text, setText] = useState('');
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        onConfirm();
      }}
    >
      {typed !== undefined && (
        <TextField
          label={`Type ${typed} to continue`}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      )}
      {error !== undefined && (
        <p className="field-error" role="alert">
          {error}
        </p>
      )}
      <div className="form-actions">
        <AlertDialog.Close render={<Button>Go back</Button>} />
        <Button
          type="submit"
          variant="main"
          className={isHarmless ? '' : 'danger'}
          isBusy={isBusy}
          disabled={isDisabled || (typed !== undefined && text !== typed)}
        >
          {action}
        </Button>
      </div>
    </form>
  );
}

export default ConfirmLoaded;
