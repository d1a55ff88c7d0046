import type { StatsSeries, TaskInfo } from '@millrace/contract';
import { readableDuration } from '@millrace/contract/plain';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { PageLink } from '../../parts/page-link.tsx';
import { Spark } from '../../parts/spark/spark.tsx';
import type { Column } from '../../parts/table/column.ts';
import { rateText, successOf } from './task-stats.ts';
import { startsText } from './task-words.ts';
import '../../parts/runs/runs.css';
import { failuresOf } from '../../parts/plot/run-stats.ts';

export interface TaskRow extends TaskInfo {
  /** Undefined for tasks that are not among the first in the page's sort order. */
  readonly lastDay: StatsSeries | undefined;
}

const nothing = <span className="muted">–</span>;

export const taskColumns: readonly Column<TaskRow>[] = [
  {
    id: 'task',
    header: 'Task',
    width: 'minmax(140px, 2fr)',
    isEssential: true,
    cell: ({ id, description }) => (
      <>
        <PageLink to={`/tasks/${encodeURIComponent(id)}`} className="strong-cell cut">
          {visibleControls(id)}
        </PageLink>
        {description !== undefined && (
          <span className="cell-note muted cut">{visibleControls(description)}</span>
        )}
      </>
    ),
  },
  {
    id: 'runs',
    header: 'Runs, 24h',
    width: '84px',
    align: 'end',
    isEssential: true,
    cell: ({ lastDay }) => (lastDay === undefined ? nothing : lastDay.total.triggered.toLocaleString('en')),
  },
  {
    id: 'trend',
    header: 'Ended',
    width: '150px',
    cell: ({ id, lastDay }) =>
      lastDay === undefined ? (
        nothing
      ) : (
        <Spark
          label={`Runs of ${visibleControls(id)} that ended in the last day`}
          values={lastDay.points.map((point) => point.completed + failuresOf(point))}
          color="--busy"
        />
      ),
  },
  {
    id: 'success',
    header: 'Success',
    width: '80px',
    align: 'end',
    isEssential: true,
    cell: ({ lastDay }) => {
      const rate = lastDay && successOf(lastDay.total);
      return rate == null ? nothing : <span className={rate < 0.95 ? 'tone-bad' : ''}>{rateText(rate)}</span>;
    },
  },
  {
    id: 'p95',
    header: 'p95',
    width: '80px',
    align: 'end',
    cell: ({ lastDay }) =>
      lastDay?.total.duration.p95 == null ? nothing : readableDuration(lastDay.total.duration.p95),
  },
  {
    id: 'queue',
    header: 'Queue',
    width: 'minmax(90px, 1fr)',
    cell: ({ id, queue: { name, concurrencyLimit } }) => (
      <span className="cut">
        {name === `task/${id}` ? <span className="muted">its own</span> : visibleControls(name)}
        {concurrencyLimit !== null && <span className="muted">, {concurrencyLimit} at once</span>}
      </span>
    ),
  },
  {
    id: 'starts',
    header: 'Automatic triggers',
    width: 'minmax(110px, 1.2fr)',
    cell: (task) => <span className="cut">{startsText(task) ?? nothing}</span>,
  },
  {
    id: 'file',
    header: 'File',
    width: 'minmax(100px, 1fr)',
    cell: ({ filePath }) => <code className="muted cut">{visibleControls(filePath)}</code>,
  },
];
