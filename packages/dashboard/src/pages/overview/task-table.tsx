import { readableDuration } from '@millrace/contract/plain';
import { quotedValue } from '@millrace/contract/filter';
import { useAsk } from '../../api/ask.ts';
import { PageLink } from '../../parts/page-link.tsx';
import { Section } from '../../parts/page.tsx';
import { Skeleton } from '../../parts/failure.tsx';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { share } from './figures.tsx';

/** The tasks with the most runs in the range, and their outcomes. */
export function TaskTable({ range }: { readonly range: string }) {
  const stats = useAsk(
    'retrieveStats',
    { query: { period: range, by: 'task', limit: 10 } },
    { live: 30_000 },
  );
  const rows = stats.data?.series ?? [];
  return (
    <Section title="Tasks" actions={<PageLink to="/tasks">All tasks</PageLink>}>
      <div className="card scroll-x" tabIndex={0} role="region" aria-label="Tasks">
        {stats.data ? (
          rows.length > 0 ? (
            <table className="plain-table">
              <thead>
                <tr>
                  <th scope="col">Task</th>
                  <th scope="col" className="is-end">
                    Runs
                  </th>
                  <th scope="col" className="is-end">
                    Failed
                  </th>
                  <th scope="col" className="is-end">
                    p95
                  </th>
                </tr>
              </thead>
              <tbody>
                {rows.map(({ name, total }) => {
                  const failed = total.failed + total.crashed + total.systemFailure + total.timedOut;
                  return (
                    <tr key={name}>
                      <th scope="row">
                        <PageLink to={`/tasks/${encodeURIComponent(name ?? '')}`}>
                          {visibleControls(name ?? '')}
                        </PageLink>
                      </th>
                      <td className="is-end number">{total.triggered.toLocaleString('en')}</td>
                      <td className="is-end number">
                        {failed > 0 ? (
                          <PageLink
                            to="/runs"
                            search={{ q: `task:${quotedValue(name ?? '')} status:failed,crashed,timed-out` }}
                            className="tone-bad"
                          >
                            {failed.toLocaleString('en')}{' '}
                            <span className="muted small">{share(failed, total.completed + failed)}</span>
                          </PageLink>
                        ) : (
                          <span className="muted">0</span>
                        )}
                      </td>
                      <td className="is-end number">
                        {total.duration.p95 === null ? '–' : readableDuration(total.duration.p95)}
                      </td>
                    </tr>
                  );
                })}
              </tbody>
            </table>
          ) : (
            <p className="muted card-note">No task ran in this period.</p>
          )
        ) : (
          <div className="card-note">
            <Skeleton lines={4} label="Loading tasks" />
          </div>
        )}
      </div>
    </Section>
  );
}
