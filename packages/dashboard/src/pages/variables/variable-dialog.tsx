import type { EnvironmentVariable } from '@millrace/contract';
import { useState } from 'react';
import { useAct } from '../../api/ask.ts';
import { useEnvironment, useEnvironmentPath } from '../../api/environment.ts';
import { environmentNames } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { CheckField, fieldError, TextArea, TextField } from '../../parts/form/field.tsx';
import { FormError } from '../../parts/form/form-error.tsx';
import { outdated } from './revisions.ts';

interface VariableDialogProps {
  readonly isOpen: boolean;
  /** The variable to change; without it, a new one is added. */
  readonly variable: EnvironmentVariable | undefined;
  /** The existing names. */
  readonly names: readonly string[];
  readonly onClose: () => void;
}

/** Adds or changes a variable. The value of a secret one is not available here: a new one must be entered. */
export const VariableDialog = ({ isOpen, variable, names, onClose }: VariableDialogProps) => (
  <Dialog
    isOpen={isOpen}
    onClose={onClose}
    title={variable === undefined ? 'Add a variable' : `Change ${variable.name}`}
  >
    <VariableForm key={variable?.name} variable={variable} names={names} onClose={onClose} />
  </Dialog>
);

function VariableForm({ variable, names, onClose }: Omit<VariableDialogProps, 'isOpen'>) {
  const params = useEnvironmentPath();
  const { kind } = useEnvironment();
  const [name, setName] = useState(variable?.name ?? '');
  const [value, setValue] = useState(variable?.isSecret === false ? variable.value : '');
  const [isSecret, setSecret] = useState(variable?.isSecret ?? false);
  const set = useAct('createVariable', {
    invalidates: outdated,
    showsErrors: true,
    done: (_, { body }) => `${body.name} ${variable ? 'changed' : 'set'}`,
    onDone: onClose,
  });
  const exists = variable === undefined && names.includes(name.trim());
  const environment = environmentNames[kind as keyof typeof environmentNames] ?? kind;
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        set.mutate({ params, body: { name: name.trim(), value, isSecret } });
      }}
    >
      {variable === undefined && (
        <TextField
          label="Name"
          className="code"
          placeholder="LOG_LEVEL"
          hint="Letters, digits and _, such as STRIPE_KEY."
          value={name}
          spellCheck={false}
          autoCapitalize="off"
          maxLength={255}
          required
          error={fieldError(set.error, 'name')}
          onChange={(event) => setName(event.target.value)}
        />
      )}
      <TextArea
        label={variable?.isSecret ? 'New value' : 'Value'}
        code
        rows={3}
        value={value}
        hint={variable?.isSecret ? 'The current value is never shown. Enter the new one.' : undefined}
        error={fieldError(set.error, 'value')}
        onChange={(event) => setValue(event.target.value)}
      />
      <CheckField
        label="Secret"
        checked={isSecret}
        onChange={(event) => setSecret(event.target.checked)}
        hint="Its value is never shown again and is redacted from logs, outputs and errors."
      />
      {variable?.isSecret && !isSecret && (
        <p className="notice tone-warn">
          <span>The new value is visible to every user with access to this page.</span>
        </p>
      )}
      {value === '' && <p className="muted small">Without a value, runs receive an empty string.</p>}
      {exists && (
        <p className="notice tone-warn">
          <span>{name.trim()} is already set: its value will be replaced.</span>
        </p>
      )}
      <FormError error={set.error} fields={['name', 'value']} />
      <div className="form-actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="main" isBusy={set.isPending} disabled={name.trim() === ''}>
          {variable === undefined ? `Set in ${environment}` : `Change in ${environment}`}
        </Button>
      </div>
    </form>
  );
}
