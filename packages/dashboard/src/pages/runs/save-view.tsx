import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { TextField } from '../../parts/form/field.tsx';

export interface SaveViewProps {
  readonly isOpen: boolean;
  readonly filter: string;
  readonly onSave: (name: string) => void;
  readonly onClose: () => void;
}

/** The name of a filter to save. */
export default function SaveView({ isOpen, filter, onSave, onClose }: SaveViewProps) {
  const [name, setName] = useState('');
  const close = (): void => {
    setName('');
    onClose();
  };
  return (
    <Dialog isOpen={isOpen} onClose={close} title="Save this filter">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          onSave(name.trim());
          close();
        }}
      >
        <TextField
          label="Name"
          hint={
            <>
              Stored in this browser. Filter: <code>{filter}</code>
            </>
          }
          value={name}
          maxLength={60}
          onChange={(event) => setName(event.target.value)}
        />
        <div className="form-actions">
          <Button type="submit" variant="main" disabled={name.trim() === ''}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
