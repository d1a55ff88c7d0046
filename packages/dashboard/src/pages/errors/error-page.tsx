import { useParams } from '@tanstack/react-router';
import { ApiError } from '../../api/api-error.ts';
import { useAsk } from '../../api/ask.ts';
import { Empty } from '../../parts/empty.tsx';
import { Failure, Skeleton } from '../../parts/failure.tsx';
import { Id } from '../../parts/id.tsx';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { PageLink } from '../../parts/page-link.tsx';
import { Properties, Page, Section } from '../../parts/page.tsx';
import { Plot } from '../../parts/plot/plot.tsx';
import { runColumnsOf } from '../../parts/runs/run-columns.tsx';
import { RunList } from '../../parts/runs/run-list.tsx';
import { useSearchTexts } from '../../parts/search.ts';
import { Segments } from '../../parts/segments.tsx';
import { Mark } from '../../parts/status/status.tsx';
import { Time } from '../../parts/time/time.tsx';
import { ErrorActions } from './error-actions.tsx';
import type { ErrorDetail } from './error-detail.ts';
import { errorBadges } from './error-badge.ts';
import { ErrorState } from './error-state.tsx';
import { Examples } from './examples.tsx';
import { History } from './history.tsx';
import { Introduced } from './introduced.tsx';
import { OneGroup } from './one-group.tsx';
import { Ownership } from './ownership/ownership.tsx';
import './errors.css';

const periods = ['24h', '7d', '30d'] as const;
const defaultPeriod = '7d';
const runsShown = runColumnsOf('status', 'id', 'created', 'duration', 'version', 'tags');

/** One error group: its position in the code, its first occurrence, frequency and versions, and the actions taken. */
export function ErrorPage() {
  const { errorId = '' } = useParams({ strict: false }) as { errorId?: string };
  const [{ period = defaultPeriod }] = useSearchTexts();
  const group = useAsk('retrieveError', { params: { errorId }, query: { trend: period } }, { live: 10_000 });
  // For another period of the same group, the old numbers are kept; for another group, they are not.
  const isOther = group.isPlaceholderData && group.data?.id !== errorId;
  if (group.data && !isOther) return <OneError group={group.data} period={period} />;
  return (
    <Page title="Error">
      {group.error instanceof ApiError && group.error.status === 404 ? (
        <Empty
          title="Error not found in this environment."
          action={<PageLink to="/errors">All errors</PageLink>}
        >
          It may belong to another environment.
        </Empty>
      ) : group.error ? (
        <Failure error={group.error} onRetry={() => void group.refetch()} />
      ) : (
        <Skeleton lines={10} label="Loading the error" />
      )}
    </Page>
  );
}

function OneError({ group, period }: { readonly group: ErrorDetail; readonly period: string }) {
  const [, setSearch] = useSearchTexts();
  const points = group.trend?.points ?? [];
  const message = group.sampleMessage ?? group.errorMessage.slice(0, 1_000);
  const inPeriod = points.reduce((sum, { count }) => sum + count, 0);
  return (
    <Page
      title={`${group.errorType}: ${message.slice(0, 120)}`}
      heading={
        <span className="error-heading">
          <Mark badge={errorBadges[group.status]} compact />
          <span>{visibleControls(group.errorType)}</span>
        </span>
      }
      summary={<span className="error-summary">{visibleControls(message)}</span>}
      actions={<ErrorActions group={group} />}
    >
      <ErrorState group={group} />
      <Properties
        properties={[
          ['State', <Mark badge={errorBadges[group.status]} />],
          [
            'Task',
            <PageLink to={`/tasks/${encodeURIComponent(group.taskIdentifier)}`}>
              {visibleControls(group.taskIdentifier)}
            </PageLink>,
          ],
          ['Failed runs', <span className="number">{group.count.toLocaleString('en')}</span>],
          ['First seen', <Time at={group.firstSeen} />],
          ['Last seen', <Time at={group.lastSeen} />],
          group.affectedVersions.length === 0
            ? undefined
            : [
                'Versions',
                <span className="row wrap versions-of">
                  {group.affectedVersions.map((version) => (
                    <PageLink
                      key={version}
                      className="mono"
                      to="/runs"
                      search={{ q: `version:${version} error:${group.id}` }}
                    >
                      {version}
                    </PageLink>
                  ))}
                </span>,
              ],
          ['Id', <Id id={group.id} />],
        ]}
      />
      <section className="card trend-card" aria-label="Trend">
        <div className="row spread">
          <span className="small muted number">
            {inPeriod.toLocaleString('en')} in the last {period}
          </span>
          <Segments
            label="Time"
            options={periods}
            value={period}
            onChange={(next) => setSearch({ period: next === defaultPeriod ? undefined : next })}
          />
        </div>
        <Plot
          label="Occurrences"
          times={points.map(({ from }) => Date.parse(from))}
          series={[{ name: 'Occurrences', color: '--bad', values: points.map(({ count }) => count) }]}
          isStacked
          height={72}
        />
      </section>
      <div className="error-page-columns">
        <div className="stack">
          <Examples group={group} />
          <Section
            title="Runs"
            actions={
              <PageLink to="/runs" search={{ q: `error:${group.id} since:30d` }}>
                Show in runs
              </PageLink>
            }
          >
            <RunList
              columns={runsShown}
              query={{ 'filter[error]': group.id, 'filter[createdAt][period]': '365d' }}
              empty={
                <Empty title="No runs of this error are stored.">
                  Runs are deleted after their retention period. The group keeps its counts.
                </Empty>
              }
            />
          </Section>
        </div>
        <aside className="stack">
          <Introduced group={group} />
          <Ownership key={group.id} group={group} />
          <OneGroup group={group} />
          {/* Its contents change with the state. */}
          <History key={`${group.status} ${group.resolvedAt}`} errorId={group.id} />
        </aside>
      </div>
    </Page>
  );
}
