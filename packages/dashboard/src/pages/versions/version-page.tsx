import type { DeploymentDetails } from '@millrace/contract';
import { readableSize } from '@millrace/contract/plain';
import { Navigate, useParams } from '@tanstack/react-router';
import { useAsk } from '../../api/ask.ts';
import { useEnvironmentParams } from '../../api/environment.ts';
import { ApiError } from '../../api/api-error.ts';
import { CodeExample, shellWord } from '../../parts/code/code-tabs.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Failure, Skeleton } from '../../parts/failure.tsx';
import { Id } from '../../parts/id.tsx';
import { Properties, Page, Section } from '../../parts/page.tsx';
import { PageLink, useGoTo, usePageHref } from '../../parts/page-link.tsx';
import { RunList } from '../../parts/runs/run-list.tsx';
import { Mark } from '../../parts/status/status.tsx';
import type { Column } from '../../parts/table/column.ts';
import { Table } from '../../parts/table/table.tsx';
import { Time } from '../../parts/time/time.tsx';
import { useInForce } from './in-force.ts';
import { badgeOf } from './state-badge.ts';
import { PageActs, useVersionActs } from './version-actions.tsx';
import { WhatIsNew } from './version-columns.tsx';
import './versions-page.css';

/** One version by its name or id. The id of a runner redirects to the runners. */
export function VersionPage() {
  const { version = '' } = useParams({ strict: false }) as { version?: string };
  const { project, env } = useEnvironmentParams();
  return version.startsWith('runner_') ? (
    <Navigate
      to={`/p/${encodeURIComponent(project)}/${encodeURIComponent(env)}/versions` as '/'}
      search={{ tab: 'runners', runner: version } as never}
      replace
    />
  ) : (
    <OneVersion name={version} />
  );
}

function OneVersion({ name }: { readonly name: string }) {
  const found = useAsk(
    'retrieveDeployment',
    { params: { version: name } },
    { live: true, keepPrevious: false },
  );
  const { current, canary } = useInForce();
  const { entriesOf, dialog } = useVersionActs({ current, canary });
  const deployment = found.data;
  if (!deployment)
    return (
      <Page title={`Version ${name}`}>
        {found.error instanceof ApiError && found.error.status === 404 ? (
          <Empty title="Version not found in this environment." command="npx millrace versions list">
            Versions belong to one environment: choose another one at the top left, or see the{' '}
            <PageLink to="/versions">list</PageLink>.
          </Empty>
        ) : found.error ? (
          <Failure error={found.error} onRetry={() => void found.refetch()} />
        ) : (
          <Skeleton lines={8} label="Loading the version" />
        )}
      </Page>
    );
  return (
    <Page
      title={`Version ${deployment.version}`}
      heading={
        <span className="row wrap">
          <span className="number">{deployment.version}</span>
          <span className="version-mark">
            <Mark badge={badgeOf(deployment)} />
          </span>
        </span>
      }
      summary={<WhatIsNew of={deployment} />}
      actions={
        <>
          <CodeExample
            operation="retrieveDeployment"
            input={{ params: { version: deployment.version } }}
            cli={`versions show ${shellWord(deployment.version)}`}
            sdk={`import { deployments } from '@millrace/sdk';\n\nconst version = await deployments.retrieve('${deployment.version}');`}
          />
          <PageActs entries={entriesOf(deployment)} />
        </>
      }
    >
      {deployment.error && (
        <div className="notice tone-bad">
          <span>
            <span className="strong">{deployment.error.name}</span> {deployment.error.message}
          </span>
        </div>
      )}
      <Properties properties={propertiesOf(deployment)} />
      <Section title="Tasks">
        <TaskTable tasks={deployment.declaredTasks} />
      </Section>
      <Section title="Runs on it">
        <div className="edge">
          <RunList
            query={{ 'filter[version]': deployment.version }}
            empty={
              <Empty title="No runs on this version in the last seven days.">
                A run is bound to the version that is current when it starts.
              </Empty>
            }
          />
        </div>
      </Section>
      {dialog}
    </Page>
  );
}

const propertiesOf = (deployment: DeploymentDetails): Parameters<typeof Properties>[0]['properties'] => [
  ['Id', <Id key="id" id={deployment.id} short />],
  ['Created', <Time key="at" at={deployment.createdAt} />],
  [
    'First current',
    deployment.deployedAt === undefined ? 'never' : <Time key="first" at={deployment.deployedAt} />,
  ],
  deployment.deployedBy === null ? undefined : ['Deployed by', deployment.deployedBy],
  deployment.deployedFrom === null ? undefined : ['From', deployment.deployedFrom],
  deployment.git?.branch === undefined
    ? undefined
    : ['Git branch', <code key="branch">{deployment.git.branch}</code>],
  deployment.git?.commit === undefined
    ? undefined
    : ['Commit', <Id key="commit" id={deployment.git.commit} />],
  [
    'Runners with it loaded',
    <PageLink key="runners" to="/versions" search={{ tab: 'runners' }}>
      {deployment.runners}
    </PageLink>,
  ],
  [
    'Live runs',
    <PageLink key="live" to="/runs" search={{ q: `version:${deployment.version}` }}>
      {deployment.liveRuns.toLocaleString('en')}
    </PageLink>,
  ],
  ['Size', deployment.isUploaded ? readableSize(deployment.bytes) : 'not uploaded: served from a folder'],
  deployment.runtime === null
    ? undefined
    : ['Runtime', `${deployment.runtime} ${deployment.runtimeVersion ?? ''}`],
  deployment.sdkVersion === null ? undefined : ['SDK', deployment.sdkVersion],
  deployment.platforms.length === 0 ? undefined : ['Platforms', deployment.platforms.join(', ')],
  deployment.requires.length === 0 ? undefined : ['Needs runners with', deployment.requires.join(', ')],
  deployment.externalId === null
    ? undefined
    : ['External id', <Id key="external" id={deployment.externalId} />],
];

type Task = DeploymentDetails['declaredTasks'][number];

const columns: readonly Column<Task>[] = [
  {
    id: 'id',
    header: 'Task',
    isEssential: true,
    width: 'minmax(140px, 2fr)',
    cell: ({ id }) => (
      <PageLink to={`/tasks/${encodeURIComponent(id)}`} className="mono">
        {id}
      </PageLink>
    ),
  },
  {
    id: 'file',
    header: 'File',
    width: 'minmax(140px, 2fr)',
    isEssential: true,
    cell: ({ filePath }) => <code>{filePath}</code>,
  },
  {
    id: 'schema',
    header: 'Payload',
    width: '140px',
    cell: ({ payloadSchema, payloadSchemaNote }) =>
      payloadSchema !== null ? (
        <span>JSON Schema</span>
      ) : (
        <span className="muted" data-tip={payloadSchemaNote ?? undefined}>
          {payloadSchemaNote === null ? 'any' : 'checked, not shown'}
        </span>
      ),
  },
  {
    id: 'description',
    header: 'Description',
    width: 'minmax(140px, 3fr)',
    cell: ({ description }) => <span>{description}</span>,
  },
];

function TaskTable({ tasks }: { readonly tasks: readonly Task[] }) {
  const goTo = useGoTo();
  const href = usePageHref();
  return (
    <div className="edge">
      <Table
        label="Tasks"
        columns={columns}
        rows={tasks}
        rowKey={({ id }) => id}
        hrefOf={({ id }) => href(`/tasks/${encodeURIComponent(id)}`)}
        onOpen={({ id }) => goTo(`/tasks/${encodeURIComponent(id)}`)}
        empty={<Empty title="No tasks." />}
      />
    </div>
  );
}
