import { Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useRef, useState, type FocusEvent } from 'react';
import { environmentSlug, useEnvironment } from '../api/environment.ts';
import { rememberEnvironment, useProject, useSession } from '../api/session.ts';
import { IconButton } from '../parts/button.tsx';
import { Empty } from '../parts/empty.tsx';
import { focusMain, keepFocus } from '../parts/focus.ts';
import { usePartKeys } from '../parts/keyboard.ts';
import { Page } from '../parts/page.tsx';
import { ConnectionBanner } from './connection-banner.tsx';
import { Palette } from './palette.tsx';
import { Rail } from './rail.tsx';
import { ShortcutHelp } from './shortcut-help.tsx';
import { TopBar } from './top-bar.tsx';
import './frame.css';

/** The frame of every page of an environment. */
export function Frame() {
  const environment = useEnvironment();
  const slug = environmentSlug(environment);
  const project = useProject();
  const { projects } = useSession();
  const { pathname } = useLocation();
  const [isRailOpen, setRailOpen] = useState(false);
  const [openAt, setOpenAt] = useState(pathname);

  // On a phone the rail covers the page and closes on navigation.
  if (openAt !== pathname) {
    setOpenAt(pathname);
    setRailOpen(false);
  }
  const rail = useRef<HTMLDivElement>(null);
  const railButton = useRef<HTMLButtonElement>(null);
  useEffect(keepFocus, []);
  useEffect(() => {
    if (isRailOpen) rail.current?.querySelector<HTMLElement>('button')?.focus();
  }, [isRailOpen]);
  const onRailKey = usePartKeys(
    'In the menu',
    isRailOpen
      ? [
          {
            keys: 'Escape',
            label: 'Close the menu',
            run: () => {
              setRailOpen(false);
              railButton.current?.focus();
            },
          },
        ]
      : [],
  );
  // It covers the page, so it closes when the focus moves to the page.
  const onRailBlur = ({ relatedTarget: next, currentTarget }: FocusEvent): void => {
    if (!(next instanceof Element) || currentTarget.contains(next)) return;
    if (next !== railButton.current && !next.closest('.menu-place')) setRailOpen(false);
  };
  useEffect(() => {
    if (project) rememberEnvironment(project.ref, slug);
  }, [project, slug]);

  return (
    <div className="frame" data-env={environment.kind}>
      <a
        className="skip-link"
        href="#content"
        onClick={(event) => {
          // Otherwise the address of the page would become that of its base.
          event.preventDefault();
          focusMain();
        }}
      >
        Skip to content
      </a>
      {environment.kind === 'prod' && <div className="prod-bar" role="presentation" />}
      <div
        ref={rail}
        className={`rail-holder ${isRailOpen ? 'is-open' : ''}`}
        onKeyDown={onRailKey}
        onBlur={onRailBlur}
      >
        <Rail onClose={() => setRailOpen(false)} />
      </div>
      <div className="frame-main">
        <TopBar
          menu={
            <IconButton
              ref={railButton}
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
              <Empty title={`You have no access to a project ${environment.project}.`}>
                {projects.length > 0
                  ? 'Choose another project at the top left, or ask a member for an invitation.'
                  : 'Create one with the command, or ask for an invitation.'}
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
