import type { Preset } from '@millrace/contract';
import { useState } from 'react';
import { useAct } from '../../../api/ask.ts';
import { useEnvironment, useEnvironmentPath } from '../../../api/environment.ts';
import { environmentNames } from '../../../api/session.ts';
import { Button } from '../../../parts/button.tsx';
import { Dialog } from '../../../parts/dialog/dialog.tsx';
import { fieldError, SelectField, TextField } from '../../../parts/form/field.tsx';
import { FormError } from '../../../parts/form/form-error.tsx';
import { expiryOf, expiryOptions } from '../../../parts/form/expiry.ts';
import { CopiedButton } from '../../../parts/once/copied-button.tsx';
import { ShownOnce } from '../../../parts/once/shown-once.tsx';
import { presets, presetWords } from './presets.ts';

/** Creates a key. Its text is shown in the same dialog, once. */
export const KeyDialog = ({
  isOpen,
  onClose,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) => (
  <Dialog isOpen={isOpen} onClose={onClose} title="Create a secret key">
    <KeyForm onClose={onClose} />
  </Dialog>
);

function KeyForm({ onClose }: { readonly onClose: () => void }) {
  const params = useEnvironmentPath();
  const { kind } = useEnvironment();
  const [name, setName] = useState('');
  const [preset, setPreset] = useState<Preset>('trigger-only');
  const [tasks, setTasks] = useState('');
  const [expiry, setExpiry] = useState('90');
  const create = useAct('createKey', { invalidates: ['listKeys'], showsErrors: true });
  const words = presetWords[preset];
  if (create.data) return <NewKey name={create.data.name} text={create.data.key} onClose={onClose} />;
  const ofTasks = tasks.split(/[\s,]+/).filter((task) => task !== '');
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        const expiresAt = expiryOf(expiry);
        create.mutate({
          params,
          body: {
            name: name.trim(),
            preset,
            ...(words.ofTasks === true && ofTasks.length > 0 && { tasks: ofTasks }),
            ...(expiresAt !== undefined && { expiresAt }),
          },
        });
      }}
    >
      <TextField
        label="Name"
        hint="Its purpose, such as checkout or ci."
        value={name}
        maxLength={64}
        required
        error={fieldError(create.error, 'name')}
        onChange={(event) => setName(event.target.value)}
      />
      <SelectField
        label="Permissions"
        value={preset}
        onChange={(event) => setPreset(event.target.value as Preset)}
        options={presets.map((value) => ({ value, label: presetWords[value].label }))}
        hint={`${words.hint} It cannot be changed later.`}
      />
      {words.ofTasks && (
        <TextField
          label="Limit to tasks"
          hint="Task ids, separated by commas. Leave empty for all tasks."
          placeholder="send-mail, charge"
          value={tasks}
          error={fieldError(create.error, 'tasks')}
          onChange={(event) => setTasks(event.target.value)}
        />
      )}
      <SelectField
        label="Expires"
        value={expiry}
        options={expiryOptions}
        error={fieldError(create.error, 'expiresAt')}
        onChange={(event) => setExpiry(event.target.value)}
      />
      <FormError error={create.error} fields={['name', 'tasks', 'expiresAt']} />
      <div className="form-actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="main" isBusy={create.isPending} disabled={name.trim() === ''}>
          Create for {environmentNames[kind as keyof typeof environmentNames] ?? kind}
        </Button>
      </div>
    </form>
  );
}

/** A key that was just created. */
export const NewKey = ({
  name,
  text,
  onClose,
}: {
  readonly name: string;
  readonly text: string;
  readonly onClose: () => void;
}) => (
  <div className="stack">
    <ShownOnce label="Secret key" text={text}>
      The key “{name}” works immediately. Programs read it from the variable <code>MILLRACE_SECRET_KEY</code>.
    </ShownOnce>
    <CopiedButton onClose={onClose} />
  </div>
);
