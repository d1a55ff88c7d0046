import type { Queue, StatsSeries } from '@millrace/contract';
import { readableDuration } from '@millrace/contract/plain';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { PageLink } from '../../parts/page-link.tsx';
import { Spark } from '../../parts/spark/spark.tsx';
import { Mark } from '../../parts/status/status.tsx';
import type { Column } from '../../parts/table/column.ts';
import { Load } from './load.tsx';
import { PauseIcon } from './pause-button.tsx';
import { addressOf } from '../../parts/queue-name.ts';
import { queueBadge } from './queue-state.ts';
import { rateText } from './rate-limit-cell.tsx';
import '../../parts/runs/runs.css';

export interface QueueRow extends Queue {
  /** The age of its oldest waiting run, as sampled in the last seconds. */
  readonly oldestMs?: number | null | undefined;
  /** Undefined for queues that are not among the busiest. */
  readonly lastHour: StatsSeries | undefined;
}

const nothing = <span className="muted">–</span>;

export const queueColumns: readonly Column<QueueRow>[] = [
  {
    id: 'state',
    header: 'State',
    width: 'minmax(44px, 116px)',
    isEssential: true,
    cell: (queue) => <Mark badge={queueBadge(queue)} />,
  },
  {
    id: 'name',
    header: 'Queue',
    sort: { by: 'name', direction: 'ascending' },
    width: 'minmax(120px, 2fr)',
    isEssential: true,
    cell: ({ id, name, type }) => (
      <>
        <PageLink to={addressOf({ id, name, type })} className="cut strong-cell">
          {visibleControls(name)}
        </PageLink>
        {type === 'task' && <span className="muted cell-note">task</span>}
      </>
    ),
  },
  {
    id: 'queued',
    header: 'Waiting',
    sort: { by: 'queued', direction: 'descending' },
    width: '90px',
    align: 'end',
    isEssential: true,
    cell: ({ queued }) =>
      queued === 0 ? (
        <span className="muted">0</span>
      ) : (
        <span className="strong">{queued.toLocaleString('en')}</span>
      ),
  },
  {
    id: 'oldest',
    header: 'Oldest',
    width: '84px',
    align: 'end',
    sort: { by: 'oldest', direction: 'descending' },
    cell: ({ oldestMs }) => (oldestMs == null ? nothing : readableDuration(oldestMs)),
  },
  {
    id: 'running',
    header: 'Running',
    sort: { by: 'running', direction: 'descending' },
    width: 'minmax(110px, 180px)',
    cell: ({ running, concurrencyLimit }) => <Load running={running} limit={concurrencyLimit} />,
  },
  {
    id: 'limit',
    header: 'Limit',
    sort: { by: 'limit', direction: 'ascending' },
    width: '120px',
    cell: ({ concurrency: { base, override }, rateLimit: { current: rate } }) =>
      override === null && base === null && rate !== null ? (
        <span className="number">{rateText(rate)}</span>
      ) : override === null ? (
        base === null ? (
          <span className="muted">none</span>
        ) : (
          <span className="number">{base.toLocaleString('en')}</span>
        )
      ) : (
        <span className="number" data-tip={`The code declares ${base === null ? 'none' : base}`}>
          {override.toLocaleString('en')} <span className="tag">override</span>
        </span>
      ),
  },
  {
    id: 'wait',
    header: 'Wait p95, 1h',
    width: '110px',
    align: 'end',
    cell: ({ lastHour }) =>
      lastHour?.total.wait.p95 == null ? nothing : readableDuration(lastHour.total.wait.p95),
  },
  {
    id: 'ended',
    header: 'Ended, last hour',
    width: 'minmax(120px, 200px)',
    cell: ({ lastHour, name }) =>
      lastHour === undefined ? (
        nothing
      ) : (
        <Spark
          label={`Runs of ${visibleControls(name)} that ended in the last hour`}
          values={lastHour.points.map((point) => endedOf(point))}
          color="--busy"
        />
      ),
  },
  { id: 'actions', header: '', width: '44px', cell: (queue) => <PauseIcon queue={queue} /> },
];

const endedOf = (point: StatsSeries['total']): number =>
  point.completed +
  point.failed +
  point.crashed +
  point.systemFailure +
  point.timedOut +
  point.canceled +
  point.expired;
