import type { BrowserMethod, BrowserSession } from '@millrace/contract';
import { useState } from 'react';
import { useAct, useAsk } from '../../api/ask.ts';
import { Button } from '../../parts/button.tsx';
import { countText } from '../../parts/count-text.ts';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Section } from '../../parts/page.tsx';
import type { Column } from '../../parts/table/column.ts';
import { Table } from '../../parts/table/table.tsx';
import { Time } from '../../parts/time/time.tsx';
import { browserName } from './browser-name.ts';

const methods: Readonly<Record<BrowserMethod, string>> = {
  link: 'One-time link',
  token: 'Access token',
  approval: 'Approval',
  password: 'Password',
  oidc: 'Identity provider',
};

const outdated = ['listBrowserSessions'] as const;

/** The browsers in which the user is logged in. Each can be logged out from here. */
export function Browsers() {
  const [ending, setEnding] = useState<readonly BrowserSession[]>();
  const [left, setLeft] = useState<readonly BrowserSession[]>([]);
  const sessions = useAsk('listBrowserSessions', {}, { live: 15_000, inEnvironment: false });
  const end = useAct('revokeBrowserSession', {
    invalidates: outdated,
    inEnvironment: false,
    showsErrors: true,
    onDone: () => {
      const [next, ...rest] = left;
      setLeft(rest);
      if (next) end.mutate({ params: { sessionId: next.id } });
      else setEnding(undefined);
    },
  });
  if (sessions.error && !sessions.data)
    return <Failure error={sessions.error} onRetry={() => void sessions.refetch()} />;
  const all = sessions.data?.data ?? [];
  const others = all.filter(({ isCurrent }) => !isCurrent);
  const count = ending?.length ?? 0;
  const [first] = ending ?? [];
  return (
    <Section
      title="Logged-in browsers"
      actions={
        others.length > 1 && (
          <Button variant="danger" onClick={() => setEnding(others)}>
            Log out {others.length} other browsers
          </Button>
        )
      }
    >
      <div className="edge">
        <Table
          label="Browsers"
          columns={columnsOf((session) => setEnding([session]))}
          rows={all}
          rowKey={({ id }) => id}
          isPending={sessions.isPending}
          empty={<p className="muted">No browser is logged in.</p>}
        />
      </div>
      <Confirm
        isOpen={ending !== undefined}
        onClose={() => {
          end.reset();
          setEnding(undefined);
        }}
        title={
          count === 1
            ? `Log out ${browserName(first?.userAgent ?? null)}?`
            : `Log out ${countText(count, 'browser')}?`
        }
        action={`Log out ${countText(count, 'browser')}`}
        isBusy={end.isPending}
        error={end.error?.message}
        onConfirm={() => {
          if (!first) return;
          setLeft(ending?.slice(1) ?? []);
          end.mutate({ params: { sessionId: first.id } });
        }}
      >
        {count === 1
          ? 'It must log in again at its next request.'
          : 'You stay logged in only in this browser.'}{' '}
        Access tokens stay valid.
      </Confirm>
    </Section>
  );
}

const columnsOf = (onEnd: (session: BrowserSession) => void): readonly Column<BrowserSession>[] => [
  {
    id: 'browser',
    header: 'Browser',
    width: 'minmax(120px, 3fr)',
    isEssential: true,
    cell: ({ userAgent, isCurrent }) => (
      <span className="cut" data-tip={userAgent ?? undefined}>
        {browserName(userAgent)} {isCurrent && <span className="tone-good">this browser</span>}
      </span>
    ),
  },
  {
    id: 'address',
    header: 'Address',
    width: 'minmax(110px, 1fr)',
    cell: ({ address }) => <code>{address}</code>,
  },
  {
    id: 'method',
    header: 'Login method',
    width: '120px',
    cell: ({ method }) => <span>{methods[method]}</span>,
  },
  { id: 'since', header: 'Since', width: '88px', cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    id: 'used',
    header: 'Last used',
    width: '88px',
    isEssential: true,
    cell: ({ lastUsedAt }) => <Time at={lastUsedAt} />,
  },
  { id: 'ends', header: 'Expires', width: '88px', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
  {
    id: 'acts',
    header: '',
    width: '96px',
    align: 'end',
    isEssential: true,
    cell: (session) =>
      session.isCurrent ? null : (
        <Button variant="plain" className="account-row-button" onClick={() => onEnd(session)}>
          Log out
        </Button>
      ),
  },
];
