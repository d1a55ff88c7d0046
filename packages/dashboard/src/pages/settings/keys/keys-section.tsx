import type { SecretKey } from '@millrace/contract';
import { useState, type ReactNode } from 'react';
import { useAsk } from '../../../api/ask.ts';
import { useEnvironmentPath } from '../../../api/environment.ts';
import { useMay } from '../../../api/session.ts';
import { Button, IconButton } from '../../../parts/button.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { Failure } from '../../../parts/failure.tsx';
import { CheckField } from '../../../parts/form/field.tsx';
import { useShortcuts } from '../../../parts/keyboard.ts';
import { Menu } from '../../../parts/menu.tsx';
import { useSearchTexts } from '../../../parts/search.ts';
import type { Badge } from '../../../parts/status/run-status.ts';
import { Mark } from '../../../parts/status/status.tsx';
import type { Column } from '../../../parts/table/column.ts';
import { Table } from '../../../parts/table/table.tsx';
import { Time } from '../../../parts/time/time.tsx';
import { KeyDialog } from './key-dialog.tsx';
import { presetWords } from './presets.ts';
import { RevokeKey } from './revoke-key.tsx';
import { RotateKey } from './rotate-key.tsx';

type Open = { readonly what: 'create' } | { readonly what: 'rotate' | 'revoke'; readonly key: SecretKey };

/** The secret keys of the environment. Their texts are not stored and cannot be shown again. */
export function KeysSection() {
  const params = useEnvironmentPath();
  const may = useMay();
  const [{ revoked }, setSearch] = useSearchTexts();
  const [open, setOpen] = useState<Open>();
  const keys = useAsk('listKeys', { params }, { live: 15_000 });
  const mayWrite = may('createKey');
  const close = (): void => setOpen(undefined);
  useShortcuts(
    mayWrite ? [{ keys: 'n', label: 'Create a key', run: () => setOpen({ what: 'create' }) }] : [],
  );
  if (keys.error && !keys.data) return <Failure error={keys.error} onRetry={() => void keys.refetch()} />;
  const all = keys.data?.data ?? [];
  const ended = all.filter((key) => !isGood(key)).length;
  const visible = revoked === 'shown' ? all : all.filter(isGood);
  return (
    <div className="stack">
      <div className="row wrap spread">
        <p className="muted settings-text">
          Programs use them to trigger and read runs, and runners to execute them. Give each its own key, with
          only the permissions that it needs.
        </p>
        {mayWrite && (
          <Button icon="plus" variant="main" shortcut="n" onClick={() => setOpen({ what: 'create' })}>
            Create key
          </Button>
        )}
      </div>
      <div className="edge">
        <Table
          label="Secret keys"
          columns={keyColumns(
            mayWrite
              ? (key) =>
                  isGood(key) && (
                    <Menu
                      trigger={<IconButton icon="more" label={`Actions for ${key.name}`} />}
                      entries={[
                        { label: 'Rotate', onSelect: () => setOpen({ what: 'rotate', key }) },
                        {
                          label: 'Revoke',
                          isDangerous: true,
                          onSelect: () => setOpen({ what: 'revoke', key }),
                        },
                      ]}
                    />
                  )
              : undefined,
          )}
          rows={visible}
          rowKey={({ id }) => id}
          isPending={keys.isPending}
          empty={
            <Empty
              title="This environment has no active keys."
              command={`npx millrace keys create ci --env ${params.env}`}
            >
              Without a key, no program can call the API.
            </Empty>
          }
        />
      </div>
      {ended > 0 && (
        <CheckField
          label={`Show ${ended} revoked or expired`}
          checked={revoked === 'shown'}
          onChange={(event) => setSearch({ revoked: event.target.checked ? 'shown' : undefined })}
        />
      )}
      <KeyDialog isOpen={open?.what === 'create'} onClose={close} />
      {open?.what === 'rotate' && <RotateKey secretKey={open.key} onClose={close} />}
      {open?.what === 'revoke' && <RevokeKey secretKey={open.key} onClose={close} />}
    </div>
  );
}

const isExpired = ({ expiresAt }: SecretKey): boolean =>
  expiresAt !== undefined && Date.parse(expiresAt) <= Date.now();
const isGood = (key: SecretKey): boolean => key.revokedAt === undefined && !isExpired(key);

const good: Badge = { word: 'Active', glyph: 'disc', tone: 'good' };
const revokedBadge: Badge = { word: 'Revoked', glyph: 'slashed', tone: 'quiet' };
const expired: Badge = { word: 'Expired', glyph: 'hourglass', tone: 'quiet' };
const badgeOf = (key: SecretKey): Badge =>
  key.revokedAt !== undefined ? revokedBadge : isExpired(key) ? expired : good;

const keyColumns = (acts: ((key: SecretKey) => ReactNode) | undefined): readonly Column<SecretKey>[] => [
  {
    id: 'name',
    header: 'Name',
    width: 'minmax(120px, 2fr)',
    isEssential: true,
    cell: ({ name, id }) => <span data-tip={id}>{name}</span>,
  },
  {
    id: 'text',
    header: 'Key',
    width: '104px',
    cell: ({ lastFour }) => <code className="muted">…{lastFour}</code>,
  },
  {
    id: 'may',
    header: 'Permissions',
    width: 'minmax(120px, 3fr)',
    isEssential: true,
    cell: ({ preset, tasks, scopes }) => (
      <span className="cut" data-tip={scopes.join('\n')}>
        {preset === undefined ? scopes.join(', ') : presetWords[preset].label}
        {tasks && <span className="muted"> of {tasks.join(', ')}</span>}
      </span>
    ),
  },
  { id: 'state', header: 'State', width: '92px', cell: (key) => <Mark badge={badgeOf(key)} /> },
  { id: 'created', header: 'Created', width: '88px', cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    id: 'used',
    header: 'Last used',
    width: '88px',
    cell: ({ lastUsedAt }) =>
      lastUsedAt === undefined ? <span className="muted">never</span> : <Time at={lastUsedAt} />,
  },
  {
    id: 'expires',
    header: 'Expires',
    width: '96px',
    cell: ({ expiresAt, revokedAt }) => {
      const at = revokedAt ?? expiresAt;
      return at === undefined ? <span className="muted">never</span> : <Time at={at} />;
    },
  },
  ...(acts
    ? [{ id: 'acts', header: '', width: '44px', align: 'end' as const, isEssential: true, cell: acts }]
    : []),
];
