import type { Member, Role } from '@millrace/contract';
import { useState, type ReactNode } from 'react';
import { useAct, useAsk } from '../../../api/ask.ts';
import { roleNames, useMay, useProject, useSession } from '../../../api/session.ts';
import { toast } from '../../../api/toasts.ts';
import { Button, IconButton } from '../../../parts/button.tsx';
import { Confirm } from '../../../parts/dialog/confirm.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { Failure } from '../../../parts/failure.tsx';
import { Section } from '../../../parts/page.tsx';
import type { Column } from '../../../parts/table/column.ts';
import { Table } from '../../../parts/table/table.tsx';
import { Time } from '../../../parts/time/time.tsx';
import { Invitations } from './invitations.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { roleOptions } from './roles.ts';

/** The members of the organization, and its invitations. */
export function MembersSection() {
  const organization = useProject()?.organization;
  const { user } = useSession();
  const role = useProject()?.role;
  const may = useMay();
  const [isInviting, setInviting] = useState(false);
  const [leaving, setLeaving] = useState<Member>();
  const params = { organization: organization?.id ?? '' };
  const members = useAsk(
    'listMembers',
    { params },
    { live: 15_000, inEnvironment: false, enabled: organization !== undefined },
  );
  const update = useAct('updateMember', {
    invalidates: ['listMembers', 'retrieveCurrentBrowserSession'],
    inEnvironment: false,
    onDone: ({ name, role: now }, input) => {
      const before = members.data?.find(({ userId }) => userId === input.params.userId)?.role;
      toast({
        title: `${name} is ${roleNames[now]} now`,
        ...(before !== undefined && { undo: () => update.mutate({ ...input, body: { role: before } }) }),
      });
    },
  });
  if (members.error && !members.data)
    return <Failure error={members.error} onRetry={() => void members.refetch()} />;
  const mayChange = may('updateMember');
  /** Only owners may add and remove owners. */
  const mayGive = (target: Role): boolean => role === 'owner' || target !== 'owner';
  const roleCell = (member: Member): ReactNode =>
    // Users cannot change their own role by accident: another admin must do it.
    mayChange && mayGive(member.role) && member.userId !== user.id ? (
      <select
        className="select settings-role"
        aria-label={`Role of ${member.name}`}
        value={member.role}
        disabled={update.isPending}
        onChange={(event) =>
          update.mutate({
            params: { ...params, userId: member.userId },
            body: { role: event.target.value as Role },
          })
        }
      >
        {roleOptions
          .filter(({ value }) => mayGive(value))
          .map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
      </select>
    ) : (
      <span>{roleNames[member.role]}</span>
    );
  const endCell = (member: Member): ReactNode =>
    member.userId === user.id ? (
      <IconButton icon="close" label="Leave the organization" onClick={() => setLeaving(member)} />
    ) : (
      mayChange &&
      mayGive(member.role) && (
        <IconButton icon="trash" label={`Remove ${member.name}`} onClick={() => setLeaving(member)} />
      )
    );
  return (
    <div className="stack">
      <Section
        title="Members"
        actions={
          may('createInvitation') && (
            <Button icon="plus" variant="main" onClick={() => setInviting(true)}>
              Invite a member
            </Button>
          )
        }
      >
        <div className="edge">
          <Table
            label="Members"
            columns={memberColumns(user.id, roleCell, endCell)}
            rows={members.data ?? []}
            rowKey={({ userId }) => userId}
            isPending={members.isPending}
            empty={<Empty title="No members." />}
          />
        </div>
        <RoleWords />
      </Section>
      {may('listInvitations') && <Invitations organization={params.organization} />}
      <InviteDialog
        isOpen={isInviting}
        organization={params.organization}
        mayGiveOwner={role === 'owner'}
        onClose={() => setInviting(false)}
      />
      {leaving && (
        <EndMember
          member={leaving}
          isSelf={leaving.userId === user.id}
          organization={params.organization}
          onClose={() => setLeaving(undefined)}
        />
      )}
    </div>
  );
}

const memberColumns = (
  self: string,
  roleCell: (member: Member) => ReactNode,
  endCell: (member: Member) => ReactNode,
): readonly Column<Member>[] => [
  {
    id: 'name',
    header: 'Name',
    width: 'minmax(120px, 2fr)',
    isEssential: true,
    cell: ({ name, userId }) => (
      <span className="cut" data-tip={userId}>
        {name} {userId === self && <span className="muted">you</span>}
      </span>
    ),
  },
  {
    id: 'email',
    header: 'Email',
    width: 'minmax(140px, 3fr)',
    cell: ({ email }) => (email === undefined ? <span className="muted">none</span> : <span>{email}</span>),
  },
  { id: 'role', header: 'Role', width: '140px', isEssential: true, cell: roleCell },
  { id: 'since', header: 'Since', width: '96px', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { id: 'acts', header: '', width: '44px', align: 'end', isEssential: true, cell: endCell },
];

/** The permissions of the roles. */
const RoleWords = () => (
  <dl className="settings-roles">
    {roleOptions.map(({ value, label, hint }) => (
      <div key={value}>
        <dt>{label}</dt>
        <dd>{hint}</dd>
      </div>
    ))}
  </dl>
);

interface EndMemberProps {
  readonly member: Member;
  readonly isSelf: boolean;
  readonly organization: string;
  readonly onClose: () => void;
}

function EndMember({ member, isSelf, organization, onClose }: EndMemberProps) {
  const options = { inEnvironment: false, showsErrors: true } as const;
  const remove = useAct('removeMember', {
    ...options,
    invalidates: ['listMembers'],
    done: ({ name }) => `${name} removed`,
    onDone: onClose,
  });
  // Another organization may remain, or none.
  const leave = useAct('leaveOrganization', { ...options, onDone: () => location.assign(document.baseURI) });
  const error = remove.error ?? leave.error;
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={isSelf ? 'Leave the organization?' : `Remove ${member.name}?`}
      action={isSelf ? 'Leave the organization' : `Remove ${member.name}`}
      typed={member.name}
      isBusy={remove.isPending || leave.isPending}
      error={error?.message}
      onConfirm={() =>
        isSelf
          ? leave.mutate({ params: { organization } })
          : remove.mutate({ params: { organization, userId: member.userId } })
      }
    >
      {isSelf ? 'You lose' : `${member.name} loses`} access immediately, and {isSelf ? 'your' : 'their'}{' '}
      development environments end. Secret keys that {isSelf ? 'you' : 'they'} created in other environments
      stay: revoke those that {isSelf ? 'you' : 'they'} may still have.
    </Confirm>
  );
}
