import { Id } from '../../parts/id.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { Section } from '../../parts/page.tsx';
import { Status } from '../../parts/status/status.tsx';
import { Duration, Time } from '../../parts/time/time.tsx';
import type { RunDetail } from './use-run.ts';

type Related = NonNullable<RunDetail['relatedRuns']['parent']>;

/** What started the run, and what it started. */
export function RelatedTab({ run }: { readonly run: RunDetail }) {
  const { root, parent, children = [] } = run.relatedRuns;
  const above = [root, parent].filter(
    (one, index, all) =>
      one !== undefined && one.id !== run.id && all.findIndex((other) => other?.id === one.id) === index,
  ) as Related[];
  return (
    <div className="stack">
      {above.length > 0 && (
        <Section title="Started by">
          <RunRows runs={above} />
        </Section>
      )}
      <Section
        title={children.length === 100 ? 'The first 100 runs that it started' : 'Runs that it started'}
      >
        {children.length > 0 ? <RunRows runs={children} /> : <p className="muted">None.</p>}
      </Section>
    </div>
  );
}

const RunRows = ({ runs }: { readonly runs: readonly Related[] }) => (
  <div className="card attempts" tabIndex={0} role="region" aria-label="Runs">
    <table className="plain-table">
      <tbody>
        {runs.map((one) => (
          <tr key={one.id}>
            <td>
              <Status status={one.status} />
            </td>
            <td className="strong">{one.taskIdentifier}</td>
            <td>
              <Id id={one.id}>
                <PageLink to={`/runs/${one.id}`}>{one.id}</PageLink>
              </Id>
            </td>
            <td>
              <Time at={one.createdAt} />
            </td>
            <td className="is-end">
              <Duration ms={one.durationMs} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
