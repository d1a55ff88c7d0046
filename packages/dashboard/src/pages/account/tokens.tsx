import type { AccessToken } from '@millrace/contract';
import { useState } from 'react';
import { useAct, useAsk } from '../../api/ask.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Failure } from '../../parts/failure.tsx';
import { expiryOf, expiryOptions } from '../../parts/form/expiry.ts';
import { fieldError, SelectField, TextField } from '../../parts/form/field.tsx';
import { FormError } from '../../parts/form/form-error.tsx';
import { CopiedButton } from '../../parts/once/copied-button.tsx';
import { ShownOnce } from '../../parts/once/shown-once.tsx';
import { Section } from '../../parts/page.tsx';
import type { Column } from '../../parts/table/column.ts';
import { Table } from '../../parts/table/table.tsx';
import { Time } from '../../parts/time/time.tsx';

/** The user's personal access tokens, with which a program has the user's permissions. */
export function Tokens() {
  const [isMaking, setMaking] = useState(false);
  const [revoking, setRevoking] = useState<AccessToken>();
  const tokens = useAsk('listTokens', {}, { live: 15_000, inEnvironment: false });
  const revoke = useAct('revokeToken', {
    invalidates: ['listTokens'],
    inEnvironment: false,
    showsErrors: true,
    done: ({ name }) => `Token ${name} revoked`,
    onDone: () => setRevoking(undefined),
  });
  if (tokens.error && !tokens.data)
    return <Failure error={tokens.error} onRetry={() => void tokens.refetch()} />;
  const good = (tokens.data?.data ?? []).filter(
    ({ revokedAt, expiresAt }) =>
      revokedAt === undefined && (expiresAt === undefined || Date.parse(expiresAt) > Date.now()),
  );
  return (
    <Section
      title="Personal access tokens"
      actions={
        <Button icon="plus" onClick={() => setMaking(true)}>
          Create token
        </Button>
      }
    >
      <div className="edge">
        <Table
          label="Personal access tokens"
          columns={columnsOf(setRevoking)}
          rows={good}
          rowKey={({ id }) => id}
          isPending={tokens.isPending}
          empty={
            <Empty title="You have no active tokens." command="npx millrace login --approval">
              The command line uses one. It has your permissions.
            </Empty>
          }
        />
      </div>
      <Dialog isOpen={isMaking} onClose={() => setMaking(false)} title="Create a personal access token">
        <TokenForm onClose={() => setMaking(false)} />
      </Dialog>
      <Confirm
        isOpen={revoking !== undefined}
        onClose={() => {
          revoke.reset();
          setRevoking(undefined);
        }}
        title={`Revoke the token ${revoking?.name ?? ''}?`}
        action={`Revoke ${revoking?.name ?? ''}`}
        typed={revoking?.name ?? ''}
        isBusy={revoke.isPending}
        error={revoke.error?.message}
        onConfirm={() => revoking && revoke.mutate({ params: { tokenId: revoking.id } })}
      >
        Takes effect immediately and cannot be undone. Programs that use the token are rejected, and browsers
        that logged in with it are logged out.
      </Confirm>
    </Section>
  );
}

const columnsOf = (onRevoke: (token: AccessToken) => void): readonly Column<AccessToken>[] => [
  {
    id: 'name',
    header: 'Name',
    width: 'minmax(110px, 3fr)',
    isEssential: true,
    cell: ({ name, id }) => <span data-tip={id}>{name}</span>,
  },
  {
    id: 'text',
    header: 'Token',
    width: '104px',
    cell: ({ lastFour }) => <code className="muted">…{lastFour}</code>,
  },
  { id: 'created', header: 'Created', width: '96px', cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    id: 'used',
    header: 'Last used',
    width: '96px',
    isEssential: true,
    cell: ({ lastUsedAt }) =>
      lastUsedAt === undefined ? <span className="muted">never</span> : <Time at={lastUsedAt} />,
  },
  {
    id: 'ends',
    header: 'Expires',
    width: '96px',
    cell: ({ expiresAt }) =>
      expiresAt === undefined ? <span className="muted">never</span> : <Time at={expiresAt} />,
  },
  {
    id: 'acts',
    header: '',
    width: '96px',
    align: 'end',
    isEssential: true,
    cell: (token) => (
      <Button variant="plain" className="account-row-button" onClick={() => onRevoke(token)}>
        Revoke
      </Button>
    ),
  },
];

function TokenForm({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const [expiry, setExpiry] = useState('90');
  const create = useAct('createToken', {
    invalidates: ['listTokens'],
    inEnvironment: false,
    showsErrors: true,
  });
  if (create.data)
    return (
      <div className="stack">
        <ShownOnce label="Personal access token" text={create.data.token}>
          It grants all of your permissions.
        </ShownOnce>
        <CopiedButton onClose={onClose} />
      </div>
    );
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        const expiresAt = expiryOf(expiry);
        create.mutate({ body: { name: name.trim(), ...(expiresAt !== undefined && { expiresAt }) } });
      }}
    >
      <TextField
        label="Name"
        hint="Where you use it, such as laptop."
        value={name}
        maxLength={64}
        required
        error={fieldError(create.error, 'name')}
        onChange={(event) => setName(event.target.value)}
      />
      <SelectField
        label="Expires"
        value={expiry}
        options={expiryOptions}
        error={fieldError(create.error, 'expiresAt')}
        onChange={(event) => setExpiry(event.target.value)}
      />
      <FormError error={create.error} fields={['name', 'expiresAt']} />
      <div className="form-actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="main" isBusy={create.isPending} disabled={name.trim() === ''}>
          Create token
        </Button>
      </div>
    </form>
  );
}
