import type { Deployment } from '@millrace/contract';
import { useAsk } from '../../api/ask.ts';
import { useMay } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { CodeExample } from '../../parts/code/code-tabs.tsx';
import { countText } from '../../parts/count-text.ts';
import { Empty } from '../../parts/empty.tsx';
import { Page } from '../../parts/page.tsx';
import { PageLink, useGoTo, usePageHref } from '../../parts/page-link.tsx';
import { useSearchTexts } from '../../parts/search.ts';
import { useLiveList } from '../../parts/table/live-rows.ts';
import { LiveTable } from '../../parts/table/live-table.tsx';
import { Segments } from '../../parts/segments.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { BranchesTab } from './branches-tab.tsx';
import { RunnersTab } from './runners-tab.tsx';
import { useVersionActs, RowActs } from './version-actions.tsx';
import { versionColumns } from './version-columns.tsx';
import { useInForce } from './in-force.ts';
import './versions-page.css';

/** The versions of the environment's code, its runners, and the branches of the project. */
export function VersionsPage() {
  const [{ tab = 'versions' }, setSearch] = useSearchTexts();
  const runners = useAsk('listRunners', {}, { live: true });
  const slots = runners.data?.data.reduce((sum, runner) => sum + runner.slots, 0) ?? 0;
  const running = runners.data?.data.reduce((sum, runner) => sum + runner.running, 0) ?? 0;
  return (
    <Page
      title="Versions"
      summary={
        runners.data && (
          <span className="number">
            {countText(runners.data.data.length, 'runner')} connected, {running.toLocaleString('en')} of{' '}
            {countText(slots, 'slot')} in use
          </span>
        )
      }
      actions={
        <CodeExample
          operation="listDeployments"
          input={{}}
          cli={tab === 'runners' ? 'runners list' : tab === 'branches' ? 'branches list' : 'versions list'}
          sdk={`import { deployments } from '@millrace/sdk';\n\nfor await (const one of deployments.list()) {\n  console.log(one.version, one.state);\n}`}
        />
      }
    >
      <Tabs
        label="Versions, runners, branches"
        selected={tab}
        onSelect={(next) => setSearch({ tab: next === 'versions' ? undefined : next }, { push: true })}
        tabs={[
          { id: 'versions', label: 'Versions', content: <VersionList /> },
          { id: 'runners', label: 'Runners', count: runners.data?.data.length, content: <RunnersTab /> },
          { id: 'branches', label: 'Branches', content: <BranchesTab /> },
        ]}
      />
    </Page>
  );
}

const outcomes = [
  { value: '', label: 'All' },
  { value: 'DEPLOYED', label: 'Deployed' },
  { value: 'FAILED', label: 'Failed' },
] as const;

const keyOf = ({ id }: Deployment): string => id;

function VersionList() {
  const [{ status = '' }, setSearch] = useSearchTexts();
  const may = useMay();
  const goTo = useGoTo();
  const href = usePageHref();
  const input = { query: { 'page[size]': 50, status: status || undefined } };
  const list = useLiveList('listDeployments', input, keyOf);
  const { current, canary } = useInForce();
  const { start, entriesOf, dialog } = useVersionActs({ current, canary });
  return (
    <div className="stack">
      {canary && (
        <div className="notice tone-busy">
          <span>
            <span className="strong">Canary:</span> {canary.canaryPercent} % of new runs start on{' '}
            <code>{canary.version}</code>, the others on <code>{current?.version}</code>.
          </span>
          <PageLink to={`/versions/${encodeURIComponent(canary.version)}/compare`}>
            Compare with the current version
          </PageLink>
          {may('promoteDeployment') && (
            <>
              <Button onClick={() => start('canary', canary)}>Change the share</Button>
              <Button onClick={() => start('promote', canary)}>Promote to all</Button>
            </>
          )}
          {may('abortCanary') && (
            <Button variant="danger" onClick={() => start('abort', canary)}>
              End the canary
            </Button>
          )}
        </div>
      )}
      <Segments
        label="Outcome"
        options={outcomes}
        value={status}
        onChange={(value) => setSearch({ status: value || undefined }, { push: true })}
      />
      <LiveTable
        list={list}
        noun="version"
        label="Versions"
        columns={versionColumns((deployment) => (
          <RowActs version={deployment.version} entries={entriesOf(deployment)} />
        ))}
        rowKey={keyOf}
        hrefOf={({ version }) => href(`/versions/${encodeURIComponent(version)}`)}
        onOpen={({ version }) => goTo(`/versions/${encodeURIComponent(version)}`)}
        empty={
          status === '' ? (
            <Empty title="No versions yet." command="npx millrace deploy">
              In the folder of your project. In development, <code>npx millrace dev</code> creates a version
              on every save.
            </Empty>
          ) : (
            <Empty
              title="No versions match."
              action={<Button onClick={() => setSearch({ status: undefined })}>Show all</Button>}
            />
          )
        }
      />
      {dialog}
    </div>
  );
}
