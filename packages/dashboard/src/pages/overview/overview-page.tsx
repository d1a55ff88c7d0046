import { useAsk } from '../../api/ask.ts';
import { useSession } from '../../api/session.ts';
import { CodeExample } from '../../parts/code/code-tabs.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Icon } from '../../parts/icons.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { Page } from '../../parts/page.tsx';
import { useSearchTexts } from '../../parts/search.ts';
import { Segments } from '../../parts/segments.tsx';
import { GlyphMark } from '../../parts/status/glyph.tsx';
import { PinnedCharts } from '../../parts/charts/pinned-charts.tsx';
import { useNow } from '../../parts/time/now.ts';
import { concernsOf, type Known } from './attention.ts';
import { ErrorList } from './error-list.tsx';
import { Figures } from './figures.tsx';
import { Series } from './series.tsx';
import { Storage } from './storage.tsx';
import { TaskTable } from './task-table.tsx';
import './overview.css';

/** Maximum number counted. */
const maxNewErrors = 50;
const ranges = ['1h', '6h', '24h', '7d', '30d'];

/** The state of the environment, with urgent problems first. */
export function OverviewPage() {
  const [{ range = '24h' }, setSearch] = useSearchTexts();
  const stats = useAsk('retrieveStats', { query: { period: range } }, { live: 15_000 });
  const concurrency = useAsk('retrieveConcurrency', {}, { live: true });
  const runners = useAsk('listRunners', {}, { live: true });
  const queues = useAsk('listQueues', { query: { perPage: 1 } }, { live: 15_000 });
  const pausedQueues = useAsk(
    'listQueues',
    { query: { perPage: 100, 'filter[paused]': 'true', sort: 'queued' } },
    { live: 15_000 },
  );
  const schedules = useAsk('listSchedules', { query: { perPage: 100, sort: 'next' } }, { live: 30_000 });
  const newErrors = useAsk(
    'listErrors',
    {
      query: {
        'filter[status]': 'unresolved',
        'filter[period]': range,
        sort: 'firstSeen',
        'page[size]': maxNewErrors,
      },
    },
    { live: 15_000 },
  );
  const { server } = useSession();

  const all = stats.data?.series[0];
  const oldestMs = all?.points.at(-1)?.oldestMs;
  const known = {
    installationPausedAt: server.pausedAt,
    concurrency: concurrency.data,
    runners: runners.data?.data,
    queues: pausedQueues.data?.data,
    schedules: schedules.data?.data,
    newErrors:
      stats.data && newErrors.data?.data.filter(({ firstSeen }) => firstSeen >= stats.data.from).length,
    regressedErrors: all?.total.regressedErrors,
    oldestMs,
  };
  const isFresh = queues.data?.pagination.count === 0 && all?.total.triggered === 0;

  return (
    <Page
      title="Overview"
      actions={
        <>
          <Segments
            label="Time"
            options={ranges}
            value={range}
            onChange={(next) => setSearch({ range: next === '24h' ? undefined : next })}
          />
          <CodeExample
            operation="retrieveStats"
            input={{ query: { period: range } }}
            cli={`stats --period ${range}`}
            sdk={`import { stats } from '@millrace/sdk';\n\nconst { series } = await stats.retrieve({ period: '${range}' });`}
          />
        </>
      }
    >
      {isFresh ? (
        <Empty title="Nothing has run here yet." command="npx millrace dev">
          Start it in a folder with tasks; their runs appear here. <code>npx millrace init</code> creates such
          a folder.
        </Empty>
      ) : (
        <>
          {stats.data && <Concerns known={known} />}
          <Figures
            stats={all}
            range={range}
            concurrency={concurrency.data}
            runners={runners.data?.data}
            oldestMs={oldestMs}
          />
          <Series stats={all} />
          <PinnedCharts />
          <div className="overview-columns">
            <TaskTable range={range} />
            <ErrorList range={range} />
          </div>
          <Storage />
        </>
      )}
    </Page>
  );
}

/** Urgent problems first; a line is also shown if there are none. */
function Concerns({ known }: { readonly known: Omit<Known, 'now'> }) {
  const concerns = concernsOf({ ...known, now: useNow() });
  if (concerns.length === 0)
    return (
      <p className="all-well muted">
        <span className="tone-good concern-mark">
          <GlyphMark glyph="disc" />
        </span>
        Nothing needs attention.
      </p>
    );
  return (
    <ul className="concerns card" aria-label="Needs attention">
      {concerns.map(({ id, tone, text, to, search, action }) => (
        <li key={id} className="concern">
          <span className={`tone-${tone} concern-mark`}>
            <Icon name="errors" />
          </span>
          <span>{text}</span>
          <PageLink to={to} {...(search && { search })}>
            {action}
          </PageLink>
        </li>
      ))}
    </ul>
  );
}
