import type { RunListItem } from '@millrace/contract';
import { Id } from '../id.tsx';
import { shortId } from '../id-text.ts';
import { PageLink } from '../page-link.tsx';
import { Status } from '../status/status.tsx';
import { CellButton } from '../button.tsx';
import type { Column } from '../table/column.ts';
import { Duration, Time } from '../time/time.tsx';
import { visibleControls } from '../json/visible-controls.ts';

interface CellOptions {
  /** Adds a word to the page's filter; without it, cells are read-only. */
  readonly onFilter?: ((key: string, value: string) => void) | undefined;
}

/** A value by which alone the list is filtered. */
const Filtering = ({
  name,
  value,
  onFilter,
  className = '',
}: {
  readonly name: string;
  readonly value: string;
  readonly onFilter: CellOptions['onFilter'];
  readonly className?: string;
}) =>
  onFilter ? (
    <CellButton
      className={`cell-filter ${className}`}
      tip={`Only ${name}:${visibleControls(value)}`}
      onClick={() => onFilter(name, value)}
    >
      {visibleControls(value)}
    </CellButton>
  ) : (
    <span className={`cut ${className}`}>{visibleControls(value)}</span>
  );

/** Since the start of an attempt, or else since the creation of the run. */
const durationOf = (run: RunListItem) =>
  run.isCompleted ? (
    run.startedAt === undefined ? (
      <span className="muted">–</span>
    ) : (
      <Duration ms={run.durationMs} />
    )
  ) : run.isExecuting && run.startedAt !== undefined ? (
    <Duration since={run.startedAt} />
  ) : (
    <span className="muted">–</span>
  );

/**
 * Some of the columns, for a list in which the others would be the same for all runs.
 *
 * @example
 * <RunList columns={runColumnsOf('status', 'id', 'created', 'duration')} … />
 */
export const runColumnsOf = (...ids: readonly string[]): readonly Column<RunListItem>[] =>
  runColumns().filter(({ id }) => ids.includes(id));

/** The columns of every list of runs. */
export const runColumns = ({ onFilter }: CellOptions = {}): readonly Column<RunListItem>[] => [
  {
    id: 'status',
    header: 'Status',
    width: 'minmax(44px, 130px)',
    isFixed: true,
    isEssential: true,
    cell: ({ status }) => <Status status={status} />,
  },
  {
    id: 'task',
    header: 'Task',
    width: 'minmax(110px, 1.6fr)',
    isEssential: true,
    cell: ({ taskIdentifier, description }) => (
      <>
        <Filtering name="task" value={taskIdentifier} onFilter={onFilter} className="strong-cell" />
        {description !== undefined && (
          <span className="cell-note muted cut">{visibleControls(description)}</span>
        )}
      </>
    ),
  },
  {
    id: 'id',
    header: 'Run',
    width: 'minmax(120px, 150px)',
    isFixed: true,
    cell: ({ id }) => (
      <Id id={id} short>
        <PageLink to={`/runs/${id}`}>{shortId(id)}</PageLink>
      </Id>
    ),
  },
  {
    id: 'created',
    header: 'Created',
    width: '96px',
    isEssential: true,
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
  { id: 'duration', header: 'Duration', width: '88px', align: 'end', cell: durationOf },
  {
    id: 'reason',
    header: 'Reason',
    width: 'minmax(100px, 2fr)',
    cell: ({ error }) =>
      error !== undefined && (
        <>
          {error.name !== undefined && (
            <Filtering name="error" value={error.name} onFilter={onFilter} className="tone-bad" />
          )}
          <span className="cell-note muted cut" data-tip={visibleControls(error.message)}>
            {visibleControls(error.message)}
          </span>
        </>
      ),
  },
  {
    id: 'version',
    header: 'Version',
    width: 'minmax(70px, 120px)',
    cell: ({ version }) =>
      version === undefined ? (
        <span className="muted">–</span>
      ) : (
        <Filtering name="version" value={version} onFilter={onFilter} className="mono" />
      ),
  },
  {
    id: 'tags',
    header: 'Tags',
    width: 'minmax(90px, 1.2fr)',
    cell: ({ tags }) => (
      <span className="tags">
        {tags.map((tag) => (
          <Filtering key={tag} name="tag" value={tag} onFilter={onFilter} className="tag" />
        ))}
      </span>
    ),
  },
  {
    id: 'started',
    header: 'Started',
    width: '96px',
    startsHidden: true,
    cell: ({ startedAt }) =>
      startedAt === undefined ? <span className="muted">–</span> : <Time at={startedAt} />,
  },
  {
    id: 'finished',
    header: 'Finished',
    width: '96px',
    startsHidden: true,
    cell: ({ finishedAt }) =>
      finishedAt === undefined ? <span className="muted">–</span> : <Time at={finishedAt} />,
  },
  {
    id: 'key',
    header: 'Idempotency key',
    width: 'minmax(110px, 1fr)',
    startsHidden: true,
    cell: ({ idempotencyKey }) => <span className="mono cut">{visibleControls(idempotencyKey ?? '–')}</span>,
  },
  {
    id: 'region',
    header: 'Region',
    width: '90px',
    startsHidden: true,
    cell: ({ region }) =>
      region === undefined ? (
        <span className="muted">–</span>
      ) : (
        <Filtering name="region" value={region} onFilter={onFilter} />
      ),
  },
  {
    id: 'test',
    header: 'Test',
    width: '56px',
    startsHidden: true,
    cell: ({ isTest }) => (isTest ? 'test' : <span className="muted">–</span>),
  },
];
