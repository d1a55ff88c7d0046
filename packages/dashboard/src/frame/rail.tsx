import { useLocation } from '@tanstack/react-router';
import { useState } from 'react';
import { useEnvironment, useEnvironmentParams } from '../api/environment.ts';
import { useSession } from '../api/session.ts';
import { IconButton } from '../parts/button.tsx';
import { Icon } from '../parts/icons.tsx';
import { PageLink } from '../parts/page-link.tsx';
import { EnvironmentSwitch } from './environment-switch.tsx';
import { frameLinks } from './links.ts';

const stored = 'millrace.rail';

/** The pages of the environment. It can be collapsed to icons. */
export function Rail({ onClose }: { readonly onClose: () => void }) {
  const { project, env } = useEnvironmentParams();
  const { pathname } = useLocation();
  const { server } = useSession();
  const { kind } = useEnvironment();
  const [isSmall, setSmall] = useState(() => localStorage.getItem(stored) === 'small');
  const root = `/p/${project}/${env}`;
  const isChosen = (to: string): boolean => {
    const path = decodeURIComponent(pathname);
    return to === ''
      ? path === root || path === `${root}/`
      : path === root + to || path.startsWith(`${root}${to}/`);
  };
  return (
    <nav className={`rail ${isSmall ? 'is-small' : ''}`} aria-label="Pages" data-env={kind}>
      <EnvironmentSwitch />
      <ul className="rail-links">
        {frameLinks.map(({ to, label, icon, key, also = [] }) => (
          <li key={to}>
            <PageLink
              to={to}
              className="rail-link"
              aria-current={[to, ...also].some(isChosen) ? 'page' : undefined}
              data-tip={isSmall ? `${label} (${key})` : undefined}
              onClick={onClose}
            >
              <Icon name={icon} />
              <span className="rail-label">{label}</span>
            </PageLink>
          </li>
        ))}
      </ul>
      <div className="rail-foot">
        <span className="rail-label muted small cut">Millrace {server.version}</span>
        <IconButton
          icon={isSmall ? 'right' : 'left'}
          label={isSmall ? 'Show labels' : 'Show icons only'}
          className="rail-size"
          onClick={() => {
            localStorage.setItem(stored, isSmall ? 'large' : 'small');
            setSmall(!isSmall);
          }}
        />
      </div>
    </nav>
  );
}
