import { quotedValue } from '@millrace/contract/filter';
import { readableDuration } from '@millrace/contract/plain';
import type { ReactNode } from 'react';
import type { ReplyOf } from '../../api/operation-types.ts';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { PageLink } from '../../parts/page-link.tsx';
import { Mark } from '../../parts/status/status.tsx';
import type { Badge } from '../../parts/status/run-status.ts';
import type { Column } from '../../parts/table/column.ts';
import { Time } from '../../parts/time/time.tsx';
import { badgeOf } from './state-badge.ts';

type Comparison = ReplyOf<'compareDeployments'>;
type Task = Comparison['tasks'][number];
type Runs = NonNullable<Task['before']>;

const changeBadges: Readonly<Record<Task['change'], Badge>> = {
  added: { word: 'Added', glyph: 'disc', tone: 'good' },
  removed: { word: 'Removed', glyph: 'slashed', tone: 'warn' },
  changed: { word: 'Changed', glyph: 'half', tone: 'busy' },
  same: { word: 'Same options', glyph: 'ring', tone: 'quiet' },
};

const percentText = (share: number | null): string =>
  share === null ? '–' : `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;

const durationText = (ms: number | null): string => (ms === null ? '–' : readableDuration(ms));

/** A figure of both versions. A version that lacks the task has a dash. */
const bothSides =
  (figure: (runs: Runs) => string) =>
  ({ before, after }: Task): ReactNode => (
    <span className="number">
      {before ? figure(before) : '–'} <span className="muted">→</span> {after ? figure(after) : '–'}
    </span>
  );

const isWorse = ({ before, after }: Task): boolean =>
  (after?.failureRate ?? 0) - (before?.failureRate ?? 0) >= 0.01;

/** The columns of the compared tasks. Failure rates link to the failed runs of the newer version. */
export const comparedColumns = (before: string, after: string): readonly Column<Task>[] => [
  {
    id: 'task',
    header: 'Task',
    width: 'minmax(140px, 2fr)',
    isEssential: true,
    cell: ({ id }) => (
      <PageLink to={`/tasks/${encodeURIComponent(id)}`} className="mono">
        {visibleControls(id)}
      </PageLink>
    ),
  },
  {
    id: 'change',
    header: 'Change',
    width: '128px',
    cell: ({ change }) => <Mark badge={changeBadges[change]} />,
  },
  {
    id: 'runs',
    header: 'Runs',
    width: 'minmax(104px, 1fr)',
    align: 'end',
    cell: bothSides(({ completed, failed }) => (completed + failed).toLocaleString('en')),
  },
  {
    id: 'failed',
    header: 'Failed',
    width: 'minmax(104px, 1fr)',
    align: 'end',
    isEssential: true,
    cell: (task) => (
      <PageLink
        to="/runs"
        search={{
          q: `task:${quotedValue(task.id)} version:${task.after ? after : before} status:failed,crashed,timed-out since:7d`,
        }}
      >
        <span className={isWorse(task) ? 'tone-bad strong' : ''}>
          {bothSides(({ failureRate }) => percentText(failureRate))(task)}
        </span>
      </PageLink>
    ),
  },
  {
    id: 'p50',
    header: 'p50',
    width: 'minmax(104px, 1fr)',
    align: 'end',
    cell: bothSides(({ p50 }) => durationText(p50)),
  },
  {
    id: 'p95',
    header: 'p95',
    width: 'minmax(104px, 1fr)',
    align: 'end',
    cell: bothSides(({ p95 }) => durationText(p95)),
  },
];

/** The columns of the deployments between two versions. */
export const deploymentColumns: readonly Column<Comparison['deployments'][number]>[] = [
  {
    id: 'version',
    header: 'Version',
    width: '120px',
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
    width: '128px',
    cell: (deployment) => <Mark badge={badgeOf(deployment)} />,
  },
  { id: 'created', header: 'Created', width: '96px', cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    id: 'commit',
    header: 'Commit',
    width: '96px',
    cell: ({ git }) => <code>{visibleControls(git?.commit?.slice(0, 7) ?? '–')}</code>,
  },
  {
    id: 'branch',
    header: 'Branch',
    width: 'minmax(88px, 1fr)',
    cell: ({ git }) => <span>{visibleControls(git?.branch ?? '–')}</span>,
  },
  {
    id: 'author',
    header: 'Author',
    width: 'minmax(96px, 1fr)',
    cell: ({ git }) => <span>{visibleControls(git?.author ?? '–')}</span>,
  },
  {
    id: 'message',
    header: 'Message',
    width: 'minmax(140px, 3fr)',
    isEssential: true,
    cell: ({ message, git }) => <span>{visibleControls(message ?? git?.message ?? '–')}</span>,
  },
];
