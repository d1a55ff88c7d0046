import type { Role } from '@millrace/contract';
import { useState } from 'react';
import { useAct } from '../../../api/ask.ts';
import { baseUrl } from '../../../api/client.ts';
import { Button } from '../../../parts/button.tsx';
import { shellWord } from '../../../parts/code/code-tabs.tsx';
import { Dialog } from '../../../parts/dialog/dialog.tsx';
import { Command } from '../../../parts/empty.tsx';
import { fieldError, SelectField, TextField } from '../../../parts/form/field.tsx';
import { FormError } from '../../../parts/form/form-error.tsx';
import { CopiedButton } from '../../../parts/once/copied-button.tsx';
import { ShownOnce } from '../../../parts/once/shown-once.tsx';
import { roleOptions } from './roles.ts';

interface InviteDialogProps {
  readonly isOpen: boolean;
  readonly organization: string;
  readonly mayGiveOwner: boolean;
  readonly onClose: () => void;
}

/** Creates an invitation. The server sends no email: its token is shown once, to be passed on. */
export const InviteDialog = ({ isOpen, ...rest }: InviteDialogProps) => (
  <Dialog isOpen={isOpen} onClose={rest.onClose} title="Invite a member">
    <InviteForm {...rest} />
  </Dialog>
);

function InviteForm({ organization, mayGiveOwner, onClose }: Omit<InviteDialogProps, 'isOpen'>) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('member');
  const invite = useAct('createInvitation', {
    invalidates: ['listInvitations'],
    inEnvironment: false,
    showsErrors: true,
  });
  const options = roleOptions.filter(({ value }) => mayGiveOwner || value !== 'owner');
  if (invite.data)
    return (
      <div className="stack">
        <ShownOnce label="Invitation" text={invite.data.token}>
          Pass it to {invite.data.email}. It is valid for seven days and one use. No email was sent.
        </ShownOnce>
        <div>
          <p className="muted small">They run this, with the token and their name:</p>
          <Command
            text={`npx millrace login --url ${shellWord(baseUrl.replace(/\/$/, ''))} --invitation <token> --name "<their name>"`}
          />
        </div>
        <CopiedButton onClose={onClose} />
      </div>
    );
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        invite.mutate({ params: { organization }, body: { email: email.trim(), role } });
      }}
    >
      <TextField
        label="Email address"
        type="email"
        required
        placeholder="ada@example.com"
        value={email}
        error={fieldError(invite.error, 'email')}
        onChange={(event) => setEmail(event.target.value)}
      />
      <SelectField
        label="Role"
        value={role}
        options={options}
        hint={`${options.find(({ value }) => value === role)?.label ?? ''} ${options.find(({ value }) => value === role)?.hint ?? ''}`}
        onChange={(event) => setRole(event.target.value as Role)}
      />
      <FormError error={invite.error} fields={['email']} />
      <div className="form-actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="main" isBusy={invite.isPending} disabled={email.trim() === ''}>
          Create the invitation
        </Button>
      </div>
    </form>
  );
}
