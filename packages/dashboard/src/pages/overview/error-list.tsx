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
              {errors.data.data.map((one) => (
                <li key={one.id} className="overview-error">
                  <PageLink to={`/errors/${one.id}`} className="cut">
                    <span className="strong">{visibleControls(one.errorType)}</span>{' '}
                    {visibleControls((one.sampleMessage ?? one.errorMessage).slice(0, 200))}
                  </PageLink>
                  <span className="number is-end">{one.count.toLocaleString('en')}×</span>
                  <span className="muted small cut">{visibleControls(one.taskIdentifier)}</span>
                  <span className="muted small is-end">
                    <Time at={one.lastSeen} />
                  </span>
                </li>
              ))}
            </ul>
          ) : (
            <p className="muted card-note">No unresolved error occurred in this time.</p>
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
