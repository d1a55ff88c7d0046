import { useLocation } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAsk } from '../api/ask.ts';
import { useEnvironmentParams } from '../api/environment.ts';
import { setPaused, useLive } from '../api/live.ts';
import { useProject } from '../api/session.ts';
import { IconButton } from '../parts/button.tsx';
import { shortId } from '../parts/id-text.ts';
import { Icon } from '../parts/icons.tsx';
import { visibleControls } from '../parts/json/visible-controls.ts';
import { isMac } from '../parts/keyboard.ts';
import { PageLink } from '../parts/page-link.tsx';
import { fullName, referenceOf } from '../parts/queue-name.ts';
import { relativeText } from '../parts/time/format.ts';
import { useNow } from '../parts/time/now.ts';
import { frameLinks } from './links.ts';
import { openPalette } from './palette-state.ts';
import { UserMenu } from './user-menu.tsx';
import { ZoneMenu } from './zone-menu.tsx';

export const TopBar = ({ menu }: { readonly menu: ReactNode }) => (
  <header className="top-bar">
    {menu}
    <Breadcrumb />
    <div className="top-tools">
      <button
        type="button"
        className="search-button"
        onClick={openPalette}
        aria-keyshortcuts={`/ ${isMac ? 'Meta' : 'Control'}+K`}
      >
        <Icon name="search" size={14} />
        <span className="search-text">Search or paste an id</span>
        <kbd aria-hidden="true">/</kbd>
      </button>
      <LiveSwitch />
      <ZoneMenu />
      <UserMenu />
    </div>
  </header>
);

/** Display names of address segments, if they differ. */
const words: Readonly<Record<string, string>> = {
  bulk: 'Bulk actions',
  rules: 'Rules',
  keys: 'Secret keys',
  project: 'Project',
  members: 'Members',
  audit: 'Audit log',
  storage: 'Storage',
  compare: 'Compare',
};

/** An id in short form; a name unchanged. */
const crumbOf = (text: string): string => (/^[a-z_]+_[0-9a-z]{12,}$/.test(text) ? shortId(text) : text);

const wordOf = (page: string, part: string): string | undefined =>
  page === 'settings' ||
  (page === 'errors' && part === 'rules') ||
  (page === 'versions' && part === 'compare')
    ? words[part]
    : undefined;

function Breadcrumb() {
  const { pathname } = useLocation();
  const project = useProject();
  const params = useEnvironmentParams();
  const [page = '', ...rest] = pathname.split('/').slice(4).filter(Boolean);
  const label = frameLinks.find(({ to }) => to === `/${page}`)?.label ?? words[page] ?? page;
  return (
    <nav aria-label="Breadcrumb" className="breadcrumb">
      <ol>
        <li className="crumb-project cut">
          <PageLink to="" className="cut">
            {project?.name ?? params.project}
          </PageLink>
        </li>
        {page !== '' && (
          <li className="cut" aria-current={rest.length === 0 ? 'page' : undefined}>
            {rest.length === 0 ? label : <PageLink to={`/${page}`}>{label}</PageLink>}
          </li>
        )}
        {rest.length > 0 && (
          <li className="cut" aria-current="page">
            {wordOf(page, decodeURIComponent(rest.at(-1) as string)) ?? (
              <Crumb text={decodeURIComponent(rest.at(-1) as string)} />
            )}
          </li>
        )}
      </ol>
    </nav>
  );
}

/** The last part of an address. A queue is shown by name, even if the address has its id. */
function Crumb({ text }: { readonly text: string }) {
  const queue = useAsk(
    'retrieveQueue',
    { params: { queue: text } },
    { enabled: referenceOf(text).type === 'id', keepPrevious: false },
  );
  const name = queue.data && fullName(queue.data);
  return <span className="mono">{visibleControls(name ?? crumbOf(text))}</span>;
}

/** Whether pages refresh automatically, and when the last response arrived. */
function LiveSwitch() {
  const { isPaused, updatedAt } = useLive();
  const now = useNow();
  const age = updatedAt === undefined ? undefined : relativeText(updatedAt, Math.max(now, updatedAt));
  return (
    <div className="live">
      <IconButton
        icon={isPaused ? 'play' : 'pause'}
        label={isPaused ? 'Resume live updates' : 'Pause live updates'}
        onClick={() => setPaused(!isPaused)}
      />
      <span className={`live-text small number ${isPaused ? 'tone-warn' : 'muted'}`}>
        {isPaused ? 'Paused' : 'Live'}
        {age !== undefined && `, ${age === 'now' ? 'just now' : age}`}
      </span>
    </div>
  );
}
