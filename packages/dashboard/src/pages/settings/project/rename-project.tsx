import { useState } from 'react';
import { useAct } from '../../../api/ask.ts';
import { Button } from '../../../parts/button.tsx';
import { Dialog } from '../../../parts/dialog/dialog.tsx';
import { fieldError, TextField } from '../../../parts/form/field.tsx';
import { FormError } from '../../../parts/form/form-error.tsx';

interface RenameProjectProps {
  readonly projectRef: string;
  readonly name: string;
  readonly onClose: () => void;
}

/** Only the display name changes. */
export function RenameProject({ projectRef, name, onClose }: RenameProjectProps) {
  const [text, setText] = useState(name);
  const rename = useAct('updateProject', {
    inEnvironment: false,
    showsErrors: true,
    invalidates: ['retrieveProject', 'retrieveCurrentBrowserSession'],
    done: (project) => `Project renamed to ${project.name}`,
    onDone: onClose,
  });
  return (
    <Dialog isOpen onClose={onClose} title={`Rename ${name}`}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          rename.mutate({ params: { projectRef }, body: { name: text.trim() } });
        }}
      >
        <TextField
          label="Name"
          value={text}
          maxLength={128}
          onChange={(event) => setText(event.target.value)}
          hint={`Addresses, keys and programs are not affected: they use the ref ${projectRef}.`}
          error={fieldError(rename.error, 'name')}
        />
        <FormError error={rename.error} fields={['name']} />
        <div className="form-actions">
          <Button onClick={onClose}>Keep {name}</Button>
          <Button
            type="submit"
            variant="main"
            isBusy={rename.isPending}
            disabled={text.trim() === '' || text.trim() === name}
          >
            Rename the project
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
