import { Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { environmentSlug, useEnvironment } from '../api/environment.ts';
import { rememberEnvironment, useProject, useSession } from '../api/session.ts';
import { IconButton } from '../parts/button.tsx';
import { Empty } from '../parts/empty.tsx';
import { keepFocus } from '../parts/focus.ts';
import { Page } from '../parts/page.tsx';
import { ConnectionBanner } from './connection-banner.tsx';
import { Palette } from './palette.tsx';
import { Rail } from './rail.tsx';
import { ShortcutHelp } from './shortcut-help.tsx';
import { TopBar } from './top-bar.tsx';
import './frame.css';

/** What is around every page of an environment. */
export function Frame() {
  const environment = useEnvironment();
  const slug = environmentSlug(environment);
  const project = useProject();
  const { projects } = useSession();
  const { pathname } = useLocation();
  const [isRailOpen, setRailOpen] = useState(false);
  const [openAt, setOpenAt] = useState(pathname);

  // On a phone the rail covers the page: another page closes it.
  if (openAt !== pathname) {
    setOpenAt(pathname);
    setRailOpen(false);
  }
  useEffect(keepFocus, []);
  useEffect(() => {
    if (project) rememberEnvironment(project.ref, slug);
  }, [project, slug]);

  return (
    <div className="frame" data-env={environment.kind}>
      <a className="skip-link" href="#content">
        Go to the content
      </a>
      {environment.kind === 'prod' && <div className="prod-bar" role="presentation" />}
      <div className={`rail-holder ${isRailOpen ? 'is-open' : ''}`}>
        <Rail onClose={() => setRailOpen(false)} />
      </div>
      <div className="frame-main">
        <TopBar
          menu={
            <IconButton
              icon="menu"
              label="Menu"
              className="rail-button"
              aria-expanded={isRailOpen}
              onClick={() => setRailOpen(!isRailOpen)}
            />
          }
        />
        <ConnectionBanner />
        <main id="content" tabIndex={-1}>
          {project ? (
            <Outlet />
          ) : (
            <Page title="No such project">
              <Empty title={`You have no project ${environment.project}.`}>
                {projects.length > 0
                  ? 'Choose another one at the top left, or ask somebody who has it to invite you.'
                  : 'Make one with the command, or ask somebody to invite you.'}
              </Empty>
            </Page>
          )}
        </main>
      </div>
      <Palette />
      <ShortcutHelp />
    </div>
  );
}
