import type { Deployment } from '@millrace/contract';
import { readableSize } from '@millrace/contract/plain';
import type { ReactNode } from 'react';
import { PageLink } from '../../parts/page-link.tsx';
import { Mark } from '../../parts/status/status.tsx';
import type { Column } from '../../parts/table/column.ts';
import { Time } from '../../parts/time/time.tsx';
import { badgeOf } from './state-badge.ts';

/** `acts`: the actions on a version. */
export const versionColumns = (
  acts: (deployment: Deployment) => ReactNode,
): readonly Column<Deployment>[] => [
  {
    id: 'version',
    header: 'Version',
    width: 'minmax(116px, 0.6fr)',
    isEssential: true,
    cell: ({ version }) => (
      <PageLink to={`/versions/${encodeURIComponent(version)}`} className="mono">
        {version}
      </PageLink>
    ),
  },
  {
    id: 'state',
    header: 'State',
    width: '136px',
    isEssential: true,
    cell: (deployment) => <Mark badge={badgeOf(deployment)} />,
  },
  {
    id: 'what',
    header: 'Changes',
    width: 'minmax(140px, 3fr)',
    cell: (deployment) => <WhatIsNew of={deployment} />,
  },
  {
    id: 'by',
    header: 'Deployed by',
    width: 'minmax(96px, 1fr)',
    cell: ({ deployedBy }) => <span>{deployedBy ?? '–'}</span>,
  },
  { id: 'at', header: 'Created', width: '88px', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { id: 'runners', header: 'Runners', width: '72px', align: 'end', cell: ({ runners }) => runners },
  {
    id: 'live',
    header: 'Live runs',
    width: '80px',
    align: 'end',
    cell: ({ liveRuns, version }) =>
      liveRuns === 0 ? (
        <span className="muted">0</span>
      ) : (
        <PageLink to="/runs" search={{ q: `version:${version}` }}>
          {liveRuns.toLocaleString('en')}
        </PageLink>
      ),
  },
  { id: 'tasks', header: 'Tasks', width: '60px', align: 'end', cell: ({ tasks }) => tasks },
  {
    id: 'size',
    header: 'Size',
    width: '80px',
    align: 'end',
    cell: ({ bytes, isUploaded }) =>
      isUploaded ? readableSize(bytes) : <span className="muted">folder</span>,
  },
  { id: 'acts', header: '', width: '44px', align: 'end', isEssential: true, cell: acts },
];

/** The message of the deployment, or that of its commit. */
export const WhatIsNew = ({ of: { message, git, error } }: { readonly of: Deployment }) => {
  const text = error ? `${error.name}: ${error.message}` : (message ?? git?.message);
  return (
    <span className="cut">
      {text ?? <span className="muted">no message</span>}
      {git?.commit !== undefined && (
        <code className="muted version-commit" data-tip={git.branch}>
          {git.commit.slice(0, 7)}
          {git.dirty === true && ' with changes'}
        </code>
      )}
    </span>
  );
};
