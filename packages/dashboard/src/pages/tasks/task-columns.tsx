import type { TaskActivity } from '@millrace/contract';
import { readableDuration } from '@millrace/contract/plain';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { PageLink } from '../../parts/page-link.tsx';
import { Spark } from '../../parts/spark/spark.tsx';
import type { Column } from '../../parts/table/column.ts';
import { rateText, rateTone } from './task-stats.ts';
import { startsText } from './task-words.ts';
import '../../parts/runs/runs.css';

const nothing = <span className="muted">–</span>;

export const taskColumns: readonly Column<TaskActivity>[] = [
  {
    id: 'task',
    header: 'Task',
    isFixed: true,
    sort: { by: 'name', direction: 'ascending' },
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
    id: 'owner',
    header: 'Owner',
    width: 'minmax(80px, 0.8fr)',
    cell: ({ owner }) =>
      owner === undefined ? nothing : <span className="cut">{visibleControls(owner)}</span>,
  },
  {
    id: 'runs',
    header: 'Runs, 24h',
    width: '92px',
    align: 'end',
    isEssential: true,
    sort: { by: 'runs', direction: 'descending' },
    cell: ({ triggered }) => triggered.toLocaleString('en'),
  },
  {
    id: 'trend',
    header: 'Ended',
    width: '120px',
    cell: ({ id, ended }) => (
      <Spark
        label={`Runs of ${visibleControls(id)} that ended in the last day`}
        values={ended}
        color="--busy"
      />
    ),
  },
  {
    id: 'failed',
    header: 'Failed',
    width: '76px',
    align: 'end',
    sort: { by: 'failed', direction: 'descending' },
    cell: ({ failed }) => (failed === 0 ? <span className="muted">0</span> : failed.toLocaleString('en')),
  },
  {
    id: 'success',
    header: 'Success',
    width: '84px',
    align: 'end',
    isEssential: true,
    sort: { by: 'success', direction: 'ascending' },
    cell: ({ successRate }) =>
      successRate === null ? nothing : <span className={rateTone(successRate)}>{rateText(successRate)}</span>,
  },
  {
    id: 'p50',
    header: 'p50',
    width: '80px',
    startsHidden: true,
    align: 'end',
    sort: { by: 'p50', direction: 'descending' },
    cell: ({ p50Ms }) => (p50Ms === null ? nothing : readableDuration(p50Ms)),
  },
  {
    id: 'p95',
    header: 'p95',
    width: '80px',
    align: 'end',
    sort: { by: 'p95', direction: 'descending' },
    cell: ({ p95Ms }) => (p95Ms === null ? nothing : readableDuration(p95Ms)),
  },
  {
    id: 'waiting',
    header: 'Waiting',
    width: '84px',
    align: 'end',
    sort: { by: 'waiting', direction: 'descending' },
    cell: ({ waiting }) => (waiting === 0 ? <span className="muted">0</span> : waiting.toLocaleString('en')),
  },
  {
    id: 'oldest',
    header: 'Oldest',
    width: '80px',
    align: 'end',
    sort: { by: 'oldest', direction: 'descending' },
    cell: ({ oldestMs }) => (oldestMs === null ? nothing : readableDuration(oldestMs)),
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
    startsHidden: true,
    width: 'minmax(100px, 1fr)',
    cell: ({ filePath }) => <code className="muted cut">{visibleControls(filePath)}</code>,
  },
];
