import { Link, Outlet } from '@tanstack/react-router';
import { useEffect } from 'react';
import { firstEnvironment, useSession } from '../api/session.ts';
import { keepFocus } from '../parts/focus.ts';
import { Icon } from '../parts/icons.tsx';
import { ConnectionBanner } from './connection-banner.tsx';
import { ShortcutHelp } from './shortcut-help.tsx';
import { UserMenu } from './user-menu.tsx';
import { ZoneMenu } from './zone-menu.tsx';
import './frame.css';

/** The frame of pages outside of environments, such as the account: a link back, and the user menu. */
export function PlainFrame() {
  const session = useSession();
  useEffect(keepFocus, []);
  const first = firstEnvironment(session);
  const project = session.projects.find(({ ref }) => ref === first?.project);
  return (
    <div className="plain-frame">
      <header className="top-bar">
        {first && (
          <Link to="/p/$project/$env" params={first} className="button plain">
            <Icon name="left" size={14} />
            <span className="cut">Back to {project?.name ?? first.project}</span>
          </Link>
        )}
        <div className="top-tools">
          <ZoneMenu />
          <UserMenu />
        </div>
      </header>
      <ConnectionBanner />
      <main id="content" tabIndex={-1}>
        <Outlet />
      </main>
      <ShortcutHelp />
    </div>
  );
}
