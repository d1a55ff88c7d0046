import type { ReplyOf } from '../../api/operation-types.ts';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { PageLink } from '../../parts/page-link.tsx';
import { Spark } from '../../parts/spark/spark.tsx';
import { Mark } from '../../parts/status/status.tsx';
import { CellButton } from '../../parts/button.tsx';
import type { Column } from '../../parts/table/column.ts';
import { Time } from '../../parts/time/time.tsx';
import { errorBadges } from './error-badge.ts';
import '../../parts/runs/runs.css';

export type ErrorItem = ReplyOf<'listErrors'>['data'][number];

const shownCharacters = 300;
const newMs = 24 * 3_600_000;

/** The columns of the list. `now` determines which groups are new; `period` is that of the trend. */
export const errorColumns = ({
  now,
  period,
  onFilter,
}: {
  readonly now: number;
  readonly period: string;
  readonly onFilter: (key: string, value: string) => void;
}): readonly Column<ErrorItem>[] => [
  {
    id: 'error',
    header: 'Error',
    width: 'minmax(100px, 4fr)',
    isEssential: true,
    cell: ({ id, errorType, errorMessage, sampleMessage = errorMessage, status, firstSeen }) => (
      <>
        <Mark badge={errorBadges[status]} compact />
        <PageLink to={`/errors/${id}`} className="error-text cut">
          <span className="strong">{visibleControls(errorType)}</span>{' '}
          <span className="error-says">{visibleControls(sampleMessage.slice(0, shownCharacters))}</span>
        </PageLink>
        {now - Date.parse(firstSeen) < newMs && <span className="tag tone-warn">new</span>}
      </>
    ),
  },
  {
    id: 'task',
    header: 'Task',
    width: 'minmax(90px, 1fr)',
    cell: ({ taskIdentifier }) => (
      <CellButton
        className="cell-filter"
        tip={`Only task:${taskIdentifier}`}
        onClick={() => onFilter('task', taskIdentifier)}
      >
        {visibleControls(taskIdentifier)}
      </CellButton>
    ),
  },
  {
    id: 'owner',
    header: 'Owner',
    width: 'minmax(80px, 0.8fr)',
    cell: ({ ownership: { owner } }) =>
      owner !== null && (
        <CellButton
          className="cell-filter"
          tip={`Only owner:${owner}`}
          onClick={() => onFilter('owner', owner)}
        >
          {visibleControls(owner)}
        </CellButton>
      ),
  },
  {
    id: 'trend',
    header: `Trend, ${period}`,
    width: '150px',
    cell: ({ trend }) =>
      trend && (
        <Spark
          label={`Occurrences, ${period}`}
          values={trend.points.map(({ count }) => count)}
          color="--bad"
        />
      ),
  },
  {
    id: 'count',
    header: 'Runs',
    width: '64px',
    align: 'end',
    isEssential: true,
    cell: ({ count }) => <span className="strong">{count.toLocaleString('en')}</span>,
  },
  {
    id: 'first',
    header: 'First seen',
    width: '90px',
    cell: ({ firstSeen }) => <Time at={firstSeen} />,
  },
  {
    id: 'last',
    header: 'Last seen',
    width: '84px',
    isEssential: true,
    cell: ({ lastSeen }) => <Time at={lastSeen} />,
  },
];
