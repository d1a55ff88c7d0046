import { readableDuration } from '@millrace/contract/plain';
import { useAsk } from '../../api/ask.ts';
import { Empty } from '../../parts/empty.tsx';
import { shellWord } from '../../parts/code/code-tabs.tsx';
import { countText } from '../../parts/count-text.ts';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { PageLink } from '../../parts/page-link.tsx';
import { Section } from '../../parts/page.tsx';
import { OverTime } from '../../parts/plot/over-time.tsx';
import { endedSeries } from '../../parts/plot/run-stats.ts';
import { runColumnsOf } from '../../parts/runs/run-columns.tsx';
import { RunList } from '../../parts/runs/run-list.tsx';
import { Spark } from '../../parts/spark/spark.tsx';
import type { TaskDetail } from './task-detail.ts';
import { TaskModels } from './task-models.tsx';
import { rateText, rateTone } from './task-stats.ts';

const runsShown = runColumnsOf('status', 'id', 'created', 'duration', 'version', 'tags', 'test');
const ranges = ['1h', '1d', '7d', '30d'];

/** The state of a task: its latest runs in numbers, over time, and its errors. */
export const TaskOverview = ({ task }: { readonly task: TaskDetail }) => (
  <div className="stack">
    <Figures task={task} />
    <TaskPlots taskId={task.id} />
    <TaskModels taskId={task.id} />
    <TaskErrors taskId={task.id} />
    <Section
      title="Runs"
      actions={
        <PageLink to="/runs" search={{ q: `task:${/\s/.test(task.id) ? `"${task.id}"` : task.id}` }}>
          Show in runs
        </PageLink>
      }
    >
      <RunList
        columns={runsShown}
        query={{ 'filter[taskIdentifier]': task.id, 'filter[createdAt][period]': '30d' }}
        empty={
          <Empty
            title="No runs in the last 30 days."
            command={`npx millrace trigger ${shellWord(task.id)} --payload '{}'`}
          />
        }
      />
    </Section>
  </div>
);

function Figures({ task: { recent } }: { readonly task: TaskDetail }) {
  const { runs, successRate, p50Ms, p95Ms, failed, live } = recent;
  if (runs === 0) return null;
  const figures: readonly (readonly [name: string, value: string, tone?: string])[] = [
    ['Success', rateText(successRate) ?? '–', successRate === null ? '' : rateTone(successRate)],
    ['Failed', failed.toLocaleString('en'), failed > 0 ? 'tone-bad' : ''],
    ['Unfinished', live.toLocaleString('en')],
    ['p50', p50Ms === null ? '–' : readableDuration(p50Ms)],
    ['p95', p95Ms === null ? '–' : readableDuration(p95Ms)],
  ];
  return (
    <Section title={`The latest ${runs === 1 ? 'run' : countText(runs, 'run')}`}>
      <dl className="task-figures">
        {figures.map(([name, value, tone = '']) => (
          <div key={name} className="card task-figure">
            <dt>{name}</dt>
            <dd className={`number ${tone}`}>{value}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

const TaskPlots = ({ taskId }: { readonly taskId: string }) => (
  <OverTime
    subject={{ task: taskId }}
    ranges={ranges}
    defaultRange="1d"
    plotsOf={(points) => [
      { title: 'Ended', label: 'Runs that ended', isStacked: true, series: endedSeries(points) },
      {
        title: 'Duration, p50 and p95',
        label: 'Duration of attempts',
        format: readableDuration,
        series: [
          {
            name: 'p95',
            color: '--waiting',
            kind: 'line',
            values: points.map(({ duration }) => duration.p95),
          },
          { name: 'p50', color: '--busy', kind: 'line', values: points.map(({ duration }) => duration.p50) },
        ],
      },
      {
        title: 'Queue time, p95',
        label: 'Queue time, p95',
        format: readableDuration,
        series: [{ name: 'p95', color: '--busy', kind: 'line', values: points.map(({ wait }) => wait.p95) }],
      },
    ]}
  />
);

function TaskErrors({ taskId }: { readonly taskId: string }) {
  const errors = useAsk(
    'listErrors',
    {
      query: {
        'filter[taskIdentifier]': taskId.includes(',') ? undefined : taskId,
        'filter[status]': 'unresolved',
        'page[size]': 5,
        trend: '7d',
      },
    },
    { live: 30_000, enabled: !taskId.includes(',') },
  );
  const found = errors.data?.data ?? [];
  if (found.length === 0) return null;
  return (
    <Section
      title="Unresolved errors"
      actions={
        <PageLink
          to="/errors"
          search={{ q: `task:${/\s/.test(taskId) ? `"${taskId}"` : taskId}`, range: 'all' }}
        >
          All errors of this task
        </PageLink>
      }
    >
      <ul className="card">
        {found.map(({ id, errorType, errorMessage, sampleMessage = errorMessage, count, trend }) => (
          <li key={id} className="task-error">
            <PageLink to={`/errors/${id}`} className="cut">
              <span className="strong">{visibleControls(errorType)}</span>{' '}
              {visibleControls(sampleMessage.slice(0, 200))}
            </PageLink>
            {trend && (
              <Spark
                label="Occurrences, 7d"
                color="--bad"
                values={trend.points.map((point) => point.count)}
              />
            )}
            <span className="number">{count.toLocaleString('en')}×</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
