import type { Branch } from '@millrace/contract';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useAct, useAsk } from '../../api/ask.ts';
import type { Environment } from '../../api/client.ts';
import { environmentSlug, useEnvironment, useEnvironmentPath } from '../../api/environment.ts';
import { environmentNames, useMay } from '../../api/session.ts';
import { Button, IconButton, useRowTabIndex } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Failure } from '../../parts/failure.tsx';
import { CheckField, fieldError, SelectField, TextField } from '../../parts/form/field.tsx';
import { FormError } from '../../parts/form/form-error.tsx';
import { useSearchTexts } from '../../parts/search.ts';
import type { Column } from '../../parts/table/column.ts';
import { Table } from '../../parts/table/table.tsx';
import { Time } from '../../parts/time/time.tsx';
import { ArchiveBranch } from './archive-branch.tsx';

/** Preview and dev branches of the project: each is a separate environment. */
export function BranchesTab() {
  const { projectRef } = useEnvironmentPath();
  const { project } = useEnvironment();
  const [{ q = '' }, setSearch] = useSearchTexts();
  const may = useMay();
  const [isAdding, setAdding] = useState(false);
  const [ending, setEnding] = useState<Branch>();
  const branches = useAsk('listBranches', { params: { projectRef } }, { live: true, inEnvironment: false });
  if (branches.error && !branches.data)
    return <Failure error={branches.error} onRetry={() => void branches.refetch()} />;
  const all = branches.data?.branches ?? [];
  const found = all.filter(({ name }) => name.toLowerCase().includes(q.trim().toLowerCase()));
  return (
    <div className="stack">
      <div className="row wrap spread">
        {all.length > 0 ? (
          <input
            className="input branches-search"
            type="search"
            placeholder="Find a branch"
            aria-label="Find a branch by its name"
            value={q}
            onChange={(event) => setSearch({ q: event.target.value || undefined })}
          />
        ) : (
          <span />
        )}
        {may('createBranch') && (
          <Button icon="plus" onClick={() => setAdding(true)}>
            Create a branch
          </Button>
        )}
      </div>
      <div className="edge">
        <Table
          label="Branches"
          columns={branchColumns(
            project,
            may('archiveBranch')
              ? (branch) => (
                  <IconButton
                    icon="trash"
                    label={`Archive ${branch.name}`}
                    onClick={() => setEnding(branch)}
                  />
                )
              : undefined,
          )}
          rows={found}
          rowKey={({ id }) => id}
          isPending={branches.isPending}
          empty={
            q === '' ? (
              <Empty title="No branches." command="npx millrace deploy --env preview --branch feat/x">
                A branch has its own code, runs, queues and variables, and inherits the variables of its
                parent.
              </Empty>
            ) : (
              <Empty
                title={`No branch names contain “${q}”.`}
                action={<Button onClick={() => setSearch({ q: undefined })}>Show all</Button>}
              />
            )
          }
        />
      </div>
      <Dialog isOpen={isAdding} onClose={() => setAdding(false)} title="Create a branch">
        <BranchForm onClose={() => setAdding(false)} />
      </Dialog>
      {ending && <ArchiveBranch key={ending.id} branch={ending} onClose={() => setEnding(undefined)} />}
    </div>
  );
}

const branchColumns = (
  project: string,
  acts: ((branch: Branch) => ReactNode) | undefined,
): readonly Column<Branch>[] => [
  {
    id: 'name',
    header: 'Branch',
    width: 'minmax(120px, 3fr)',
    isEssential: true,
    cell: ({ name, env }) => <BranchLink project={project} kind={env} branch={name} />,
  },
  {
    id: 'of',
    header: 'Parent',
    width: '112px',
    isEssential: true,
    cell: ({ env }) => <span>{environmentNames[env]}</span>,
  },
  {
    id: 'paused',
    header: 'Runs',
    width: '88px',
    cell: ({ isPaused }) => (isPaused ? <span className="tone-waiting">Paused</span> : <span>Start</span>),
  },
  {
    id: 'schedules',
    header: 'Schedules',
    width: '112px',
    cell: ({ schedules }) => (schedules ? <span>Fire</span> : <span className="muted">Do not fire</span>),
  },
  { id: 'created', header: 'Created', width: '96px', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { id: 'updated', header: 'Changed', width: '96px', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
  ...(acts
    ? [{ id: 'acts', header: '', width: '44px', align: 'end' as const, isEssential: true, cell: acts }]
    : []),
];

function BranchForm({ onClose }: { readonly onClose: () => void }) {
  const { projectRef } = useEnvironmentPath();
  const [name, setName] = useState('');
  const [env, setEnv] = useState<'preview' | 'dev'>('preview');
  const [schedules, setSchedules] = useState(false);
  const create = useAct('createBranch', {
    invalidates: ['listBranches', 'listEnvironments'],
    inEnvironment: false,
    showsErrors: true,
    done: (_, { body }) => `Branch ${body.branch} created`,
    onDone: onClose,
  });
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        const body = { branch: name.trim(), env, ...(env === 'preview' && { schedules }) };
        create.mutate({ params: { projectRef }, body });
      }}
    >
      <TextField
        label="Name"
        placeholder="feat/login"
        value={name}
        maxLength={255}
        required
        error={fieldError(create.error, 'branch')}
        onChange={(event) => setName(event.target.value)}
      />
      <SelectField
        label="Parent"
        value={env}
        onChange={(event) => setEnv(event.target.value === 'dev' ? 'dev' : 'preview')}
        options={[
          { value: 'preview', label: 'Preview: visible to all project members' },
          { value: 'dev', label: 'Development: visible only to you' },
        ]}
      />
      {env === 'preview' && (
        <CheckField
          label="Declared schedules fire in this branch"
          checked={schedules}
          onChange={(event) => setSchedules(event.target.checked)}
        />
      )}
      <FormError error={create.error} fields={['branch']} />
      <div className="form-actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="main" isBusy={create.isPending} disabled={name.trim() === ''}>
          Create the branch
        </Button>
      </div>
    </form>
  );
}

const BranchLink = (environment: Environment & { readonly branch: string }) => (
  <Link
    to="/p/$project/$env"
    params={{ project: environment.project, env: environmentSlug(environment) }}
    tabIndex={useRowTabIndex()}
    className="mono"
  >
    {environment.branch}
  </Link>
);
