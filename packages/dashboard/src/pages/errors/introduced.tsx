import { useAsk } from '../../api/ask.ts';
import { Failure, Skeleton } from '../../parts/failure.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { Section } from '../../parts/page.tsx';
import { Time } from '../../parts/time/time.tsx';
import type { ErrorDetail } from './error-detail.ts';

/** The version that introduced the error, with its comparison with the version before, and the occurrences on each version. */
export function Introduced({ group }: { readonly group: ErrorDetail }) {
  const versions = useAsk('listErrorVersions', { params: { errorId: group.id } }, { live: 10_000 });
  const introducedIn = versions.data?.introducedIn;
  return (
    <Section title="Which version broke this">
      {versions.error && !versions.data ? (
        <Failure error={versions.error} onRetry={() => void versions.refetch()} />
      ) : !versions.data ? (
        <Skeleton lines={3} label="Loading versions" />
      ) : !introducedIn ? (
        <p className="muted">None of its runs was bound to a version.</p>
      ) : (
        <div className="card one-group">
          <p>
            First seen in{' '}
            <PageLink to={`/versions/${encodeURIComponent(introducedIn.version)}`} className="mono">
              {introducedIn.version}
            </PageLink>
            {introducedIn.previous === null ? (
              ', with no version before it.'
            ) : (
              <>
                , after <span className="mono">{introducedIn.previous}</span>.
              </>
            )}
          </p>
          {introducedIn.previous !== null && (
            <PageLink
              className="button"
              to={`/versions/${encodeURIComponent(introducedIn.version)}/compare`}
              search={{ with: introducedIn.previous }}
            >
              Compare the two and roll back
            </PageLink>
          )}
          <ul aria-label="Occurrences by version">
            {versions.data.data.map(({ version, count, lastSeen }) => (
              <li key={version} className="row spread">
                <PageLink className="mono" to="/runs" search={{ q: `version:${version} error:${group.id}` }}>
                  {version}
                </PageLink>
                <span className="muted small number">
                  {count.toLocaleString('en')}×, <Time at={lastSeen} />
                </span>
              </li>
            ))}
          </ul>
        </div>
      )}
    </Section>
  );
}
