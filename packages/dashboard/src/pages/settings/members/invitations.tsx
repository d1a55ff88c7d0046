import type { Invitation } from '@millrace/contract';
import { useState } from 'react';
import { useAct, useAsk } from '../../../api/ask.ts';
import { roleNames } from '../../../api/session.ts';
import { Button } from '../../../parts/button.tsx';
import { Confirm } from '../../../parts/dialog/confirm.tsx';
import { Failure } from '../../../parts/failure.tsx';
import { Section } from '../../../parts/page.tsx';
import type { Column } from '../../../parts/table/column.ts';
import { Table } from '../../../parts/table/table.tsx';
import { Time } from '../../../parts/time/time.tsx';

/** Invitations that have not been accepted yet. */
export function Invitations({ organization }: { readonly organization: string }) {
  const [revoking, setRevoking] = useState<Invitation>();
  const invitations = useAsk(
    'listInvitations',
    { params: { organization } },
    { live: 15_000, inEnvironment: false, enabled: organization !== '' },
  );
  const revoke = useAct('revokeInvitation', {
    invalidates: ['listInvitations'],
    inEnvironment: false,
    showsErrors: true,
    done: ({ email }) => `Invitation of ${email} revoked`,
    onDone: () => setRevoking(undefined),
  });
  return (
    <Section title="Invitations">
      {invitations.error && !invitations.data ? (
        <Failure error={invitations.error} onRetry={() => void invitations.refetch()} />
      ) : (
        <div className="edge">
          <Table
            label="Invitations"
            columns={columnsOf(setRevoking)}
            rows={invitations.data ?? []}
            rowKey={({ id }) => id}
            isPending={invitations.isPending}
            empty={<p className="muted settings-none">No open invitations.</p>}
          />
        </div>
      )}
      <Confirm
        isOpen={revoking !== undefined}
        onClose={() => {
          revoke.reset();
          setRevoking(undefined);
        }}
        title={`Revoke the invitation of ${revoking?.email ?? ''}?`}
        action="Revoke the invitation"
        isBusy={revoke.isPending}
        error={revoke.error?.message}
        onConfirm={() => revoking && revoke.mutate({ params: { organization, invitationId: revoking.id } })}
      >
        Its token stops working.
      </Confirm>
    </Section>
  );
}

const columnsOf = (onRevoke: (invitation: Invitation) => void): readonly Column<Invitation>[] => [
  {
    id: 'email',
    header: 'Email',
    width: 'minmax(100px, 3fr)',
    isEssential: true,
    cell: ({ email }) => <span>{email}</span>,
  },
  {
    id: 'role',
    header: 'Role',
    width: '92px',
    isEssential: true,
    cell: ({ role }) => <span>{roleNames[role]}</span>,
  },
  { id: 'created', header: 'Created', width: '96px', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { id: 'expires', header: 'Expires', width: '96px', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
  {
    id: 'acts',
    header: '',
    width: '100px',
    align: 'end',
    isEssential: true,
    cell: (invitation) => (
      <Button variant="plain" className="settings-row-button" onClick={() => onRevoke(invitation)}>
        Revoke{' '}
      </Button>
    ),
  },
];
