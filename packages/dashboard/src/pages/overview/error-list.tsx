import { useAsk } from '../../api/ask.ts';
import { Skeleton } from '../../parts/failure.tsx';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { PageLink } from '../../parts/page-link.tsx';
import { Section } from '../../parts/page.tsx';
import { Time } from '../../parts/time/time.tsx';

/** The most frequent unresolved errors in the range. */
export function ErrorList({ range }: { readonly range: string }) {
  const errors = useAsk(
    'listErrors',
    { query: { 'filter[status]': 'unresolved', 'filter[period]': range, sort: 'count', 'page[size]': 8 } },
    { live: 15_000 },
  );
  return (
    <Section title="Unresolved errors" actions={<PageLink to="/errors">All errors</PageLink>}>
      <div className="card">
        {errors.data ? (
          errors.data.data.length > 0 ? (
            <ul>
              {errors.data.data.map((group) => (
                <li key={group.id} className="overview-error">
                  <PageLink to={`/errors/${group.id}`} className="cut">
                    <span className="strong">{visibleControls(group.errorType)}</span>{' '}
                    {visibleControls((group.sampleMessage ?? group.errorMessage).slice(0, 200))}
                  </PageLink>
                  <span className="number is-end">{group.count.toLocaleString('en')}×</span>
                  <span className="muted small cut">{visibleControls(group.taskIdentifier)}</span>
                  <span className="muted small is-end">
                    <Time at={group.lastSeen} />
                  </span>
                </li>
              ))}
            </ul>
          ) : (
            <p className="muted card-note">No unresolved errors occurred in this period.</p>
          )
        ) : (
          <div className="card-note">
            <Skeleton lines={4} label="Loading errors" />
          </div>
        )}
      </div>
    </Section>
  );
}
