import { useParams } from '@tanstack/react-router';
import { ApiError } from '../../api/api-error.ts';
import { useAsk } from '../../api/ask.ts';
import type { ReplyOf } from '../../api/operation-types.ts';
import { useMay } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { CodeExample, shellWord } from '../../parts/code/code-tabs.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Failure, Skeleton } from '../../parts/failure.tsx';
import { SelectField } from '../../parts/form/field.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { PageLink, useGoTo } from '../../parts/page-link.tsx';
import { useSearchTexts } from '../../parts/search.ts';
import { Mark } from '../../parts/status/status.tsx';
import { Table } from '../../parts/table/table.tsx';
import { OptionChanges } from './compare-options.tsx';
import { comparedColumns, deploymentColumns } from './compare-columns.tsx';
import { useInForce } from './in-force.ts';
import { badgeOf, compareVersions, isBefore, isPromotable } from './state-badge.ts';
import { useVersionActs } from './version-actions.tsx';
import './versions-page.css';

type Comparison = ReplyOf<'compareDeployments'>;

/** Two versions next to each other: their tasks, failure rates, durations and commits, with the rollback to the older one. */
export function ComparePage() {
  const { version = '' } = useParams({ strict: false }) as { version?: string };
  const [{ with: other }] = useSearchTexts();
  const found = useAsk(
    'compareDeployments',
    { params: { version }, query: { with: other } },
    { live: 10_000, keepPrevious: false },
  );
  const comparison = found.data;
  if (comparison) return <OneComparison version={version} comparison={comparison} />;
  const { error } = found;
  const isEmpty = error instanceof ApiError && (error.status === 404 || error.status === 422);
  return (
    <Page title="Compare versions">
      <VersionChoice version={version} other={other ?? ''} />
      {isEmpty ? (
        <Empty
          title={error.status === 404 ? 'Version not found in this environment.' : 'Nothing to compare.'}
        >
          Choose two different versions.
        </Empty>
      ) : error ? (
        <Failure error={error} onRetry={() => void found.refetch()} />
      ) : (
        <Skeleton lines={8} label="Comparing the versions" />
      )}
    </Page>
  );
}

function OneComparison({
  version,
  comparison,
}: {
  readonly version: string;
  readonly comparison: Comparison;
}) {
  const { before, after, tasks, deployments, hasMoreDeployments, commitsUrl } = comparison;
  const may = useMay();
  const { current, canary } = useInForce();
  const { start, dialog } = useVersionActs({ current, canary });
  const isOther = (deployment: { readonly id: string }) =>
    deployment.id !== before.id && deployment.id !== after.id;
  const mayRollBack = may('promoteDeployment') && isPromotable(before) && isBefore(before, current);
  const selected = [before, after].find((deployment) => deployment.version !== version) ?? before;
  return (
    <Page
      title={`${before.version} and ${after.version}`}
      heading={
        <span className="row wrap">
          {[before, after].map((deployment, index) => (
            <span key={deployment.id} className="row">
              {index === 1 && <span className="muted">→</span>}
              <span className="number">{deployment.version}</span>
              <span className="version-mark">
                <Mark badge={badgeOf(deployment)} />
              </span>
            </span>
          ))}
        </span>
      }
      actions={
        <>
          <CodeExample
            operation="compareDeployments"
            input={{ params: { version: after.version }, query: { with: before.version } }}
            cli={`versions compare ${shellWord(after.version)} ${shellWord(before.version)}`}
            sdk={`import { deployments } from '@millrace/sdk';\n\nconst { tasks } = await deployments.compare('${after.version}', '${before.version}');`}
          />
          {mayRollBack && (
            <Button variant="main" onClick={() => start('promote', before)}>
              Roll back to {before.version}
            </Button>
          )}
        </>
      }
    >
      {canary && isOther(canary) && current && (
        <div className="notice tone-busy">
          <span>
            <span className="strong">Canary:</span> {canary.canaryPercent} % of new runs start on{' '}
            <code>{canary.version}</code>.
          </span>
          <PageLink to={`/versions/${encodeURIComponent(canary.version)}/compare`}>
            Compare it with the current version
          </PageLink>
        </div>
      )}
      <VersionChoice version={version} other={selected.version} />
      <Section title="Tasks">
        <div className="edge">
          <Table
            label="Compared tasks"
            columns={comparedColumns(before.version, after.version)}
            rows={tasks}
            rowKey={({ id }) => id}
            empty={<Empty title="Neither version has a task." />}
          />
        </div>
        <p className="muted small">
          Runs that ended on each version, in the last 28 six-hour periods with activity. Durations are those
          of attempts. Tasks that fail more often on the newer version are first.
        </p>
      </Section>
      {tasks.some(({ changes }) => changes.length > 0) && (
        <Section title="Changed options">
          <OptionChanges comparison={comparison} />
        </Section>
      )}
      <Section
        title="Deployments"
        actions={
          commitsUrl !== null && (
            <a href={commitsUrl} target="_blank" rel="noopener">
              Commits on {new URL(commitsUrl).hostname}
            </a>
          )
        }
      >
        <div className="edge">
          <Table
            label="Deployments"
            columns={deploymentColumns}
            rows={deployments}
            rowKey={({ id }) => id}
            empty={<Empty title="No deployments." />}
          />
        </div>
        {hasMoreDeployments && <p className="muted small">Earlier deployments are not listed.</p>}
      </Section>
      {dialog}
    </Page>
  );
}

/** The two versions. Either can be replaced by any of the newest 100. */
function VersionChoice({ version, other }: { readonly version: string; readonly other: string }) {
  const goTo = useGoTo();
  const list = useAsk('listDeployments', { query: { 'page[size]': 100 } });
  const names = (list.data?.data ?? []).map((deployment) => deployment.version);
  const options = (selected: string) =>
    [...new Set([...names, ...(selected === '' ? [] : [selected])])]
      .toSorted((first, second) => compareVersions(second, first))
      .map((value) => ({ value, label: value }));
  const choose = (first: string, second: string): void =>
    goTo(`/versions/${encodeURIComponent(first)}/compare`, { with: second || undefined });
  return (
    <div className="row wrap compare-choice">
      <SelectField
        label="Version"
        value={version}
        options={options(version)}
        onChange={(event) => choose(event.target.value, other)}
      />
      <SelectField
        label="Compared with"
        value={other}
        options={[...(other === '' ? [{ value: '', label: 'the version before' }] : []), ...options(other)]}
        onChange={(event) => choose(version, event.target.value)}
      />
    </div>
  );
}
