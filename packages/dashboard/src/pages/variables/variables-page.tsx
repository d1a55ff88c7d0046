import type { EnvironmentVariable } from '@millrace/contract';
import { useState } from 'react';
import { useAsk } from '../../api/ask.ts';
import { useEnvironment, useEnvironmentPath } from '../../api/environment.ts';
import { useMay } from '../../api/session.ts';
import { Button, IconButton } from '../../parts/button.tsx';
import { CodeExample } from '../../parts/code/code-tabs.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Failure } from '../../parts/failure.tsx';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { Page } from '../../parts/page.tsx';
import { useShortcuts } from '../../parts/keyboard.ts';
import { useSearchTexts } from '../../parts/search.ts';
import { countText } from '../../parts/count-text.ts';
import type { Column } from '../../parts/table/column.ts';
import { Table } from '../../parts/table/table.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { Time } from '../../parts/time/time.tsx';
import { DeleteVariable } from './delete-variable.tsx';
import { HistoryTab } from './history-tab.tsx';
import { ImportDialog } from './import-dialog.tsx';
import { useLastChanges, useRevisions, type LastChange } from './revisions.ts';
import { RollBack } from './roll-back.tsx';
import { VariableDialog } from './variable-dialog.tsx';
import { VariablePanel } from './variable-panel.tsx';
import './variables-page.css';

/** The dialog over the page. Panels for viewing are in the address instead. */
type Open =
  | { readonly what: 'add' | 'import' }
  | { readonly what: 'change' | 'delete'; readonly name: string };

/** The variables in the `process.env` of the environment's runs, and their history. */
export function VariablesPage() {
  const path = useEnvironmentPath();
  const { branch } = useEnvironment();
  const may = useMay();
  const [{ tab = 'variables', q = '', name, rollback }, setSearch] = useSearchTexts();
  const [open, setOpen] = useState<Open>();
  const variables = useAsk('listVariables', { params: path }, { live: true });
  const revisions = useRevisions();
  const changed = useLastChanges(revisions.data?.data);
  const all = variables.data ?? [];
  const mayWrite = may('createVariable');
  const found = all.filter((variable) => variable.name.toLowerCase().includes(q.trim().toLowerCase()));
  const byName = (variableName: string | undefined) => all.find((variable) => variable.name === variableName);
  const close = (): void => setOpen(undefined);
  useShortcuts(mayWrite ? [{ keys: 'n', label: 'Add a variable', run: () => setOpen({ what: 'add' }) }] : []);

  return (
    <Page
      title="Environment variables"
      summary={
        variables.data === undefined ? (
          ' '
        ) : (
          <span className="number">
            {countText(all.length, 'variable')}
            {all.some(({ isSecret }) => isSecret) &&
              `, ${all.filter(({ isSecret }) => isSecret).length} secret`}
            .{branch !== undefined && ' Includes inherited variables that the branch does not override.'}{' '}
            Runners receive changes within a second, without a deployment.
          </span>
        )
      }
      actions={
        <>
          <CodeExample
            operation="listVariables"
            input={{ params: path }}
            cli="env list"
            sdk={`import { envvars } from '@millrace/sdk';\n\nconsole.log(await envvars.list('${path.projectRef}', '${path.env}'));`}
          />
          {mayWrite && (
            <>
              <Button onClick={() => setOpen({ what: 'import' })}>Import</Button>
              <Button icon="plus" variant="main" shortcut="n" onClick={() => setOpen({ what: 'add' })}>
                Add variable
              </Button>
            </>
          )}
        </>
      }
    >
      <Tabs
        label="Variables and history"
        selected={tab}
        onSelect={(next) =>
          setSearch({ tab: next === 'variables' ? undefined : next, revision: undefined }, { push: true })
        }
        tabs={[
          {
            id: 'variables',
            label: 'Variables',
            count: variables.data?.length,
            content:
              variables.error && !variables.data ? (
                <Failure error={variables.error} onRetry={() => void variables.refetch()} />
              ) : (
                <div className="stack">
                  {all.length > 0 && (
                    <input
                      className="input variables-search"
                      type="search"
                      placeholder="Find a name"
                      aria-label="Find a variable by its name"
                      value={q}
                      onChange={(event) => setSearch({ q: event.target.value || undefined })}
                    />
                  )}
                  <div className="edge">
                    <Table
                      label="Variables"
                      columns={variableColumns({
                        changed,
                        ...(mayWrite && {
                          onAct: (what, variableName) => setOpen({ what, name: variableName }),
                        }),
                      })}
                      rows={found}
                      rowKey={keyOf}
                      onOpen={(variable) => setSearch({ name: variable.name }, { push: name === undefined })}
                      openKey={name}
                      isPending={variables.isPending}
                      empty={
                        q === '' ? (
                          <Empty title="No variables yet." command="npx millrace env set LOG_LEVEL=debug">
                            Tasks read them from <code>process.env</code>. Set one here, with the command, or
                            import a .env file.
                          </Empty>
                        ) : (
                          <Empty
                            title={`No names contain “${q}”.`}
                            action={<Button onClick={() => setSearch({ q: undefined })}>Show all</Button>}
                          />
                        )
                      }
                    />
                  </div>
                </div>
              ),
          },
          { id: 'history', label: 'History', content: <HistoryTab mayRollBack={mayWrite} /> },
        ]}
      />
      <VariablePanel
        variable={byName(name)}
        revisions={revisions.data?.data ?? []}
        {...(mayWrite && { onAct: (what, variableName) => setOpen({ what, name: variableName }) })}
      />
      <VariableDialog
        isOpen={open?.what === 'add' || (open?.what === 'change' && byName(open.name) !== undefined)}
        variable={open?.what === 'change' ? byName(open.name) : undefined}
        names={all.map(keyOf)}
        onClose={close}
      />
      <ImportDialog isOpen={open?.what === 'import'} variables={all} onClose={close} />
      <DeleteVariable
        name={open?.what === 'delete' ? open.name : undefined}
        onClose={close}
        onDone={() => setSearch({ name: undefined })}
      />
      <RollBack
        to={rollback === undefined ? undefined : Number(rollback)}
        onClose={() => setSearch({ rollback: undefined })}
      />
    </Page>
  );
}

const keyOf = ({ name }: EnvironmentVariable): string => name;

interface ColumnOptions {
  readonly changed: ReadonlyMap<string, LastChange>;
  /** Absent if the reader may not change any. */
  readonly onAct?: (what: 'change' | 'delete', name: string) => void;
}

const variableColumns = ({ changed, onAct }: ColumnOptions): readonly Column<EnvironmentVariable>[] => [
  {
    id: 'name',
    header: 'Name',
    width: 'minmax(110px, 2fr)',
    isEssential: true,
    cell: ({ name, isInherited }) => (
      <>
        <code>{name}</code>
        {isInherited && <span className="muted small"> from the parent</span>}
      </>
    ),
  },
  {
    id: 'value',
    header: 'Value',
    width: 'minmax(90px, 3fr)',
    isEssential: true,
    cell: ({ value, isSecret }) =>
      isSecret ? (
        <SecretMark />
      ) : (
        <span className="variable-value">
          <code className="cut">
            {value === '' ? <span className="muted">empty</span> : visibleControls(value.slice(0, 400))}
          </code>
          <CopyButton text={value} what="Copy value" />
        </span>
      ),
  },
  {
    id: 'changed',
    header: 'Changed',
    width: '104px',
    cell: ({ name }) => {
      const last = changed.get(name);
      return last ? <Time at={last.at} /> : <span className="muted">earlier</span>;
    },
  },
  ...(onAct
    ? [
        {
          id: 'acts',
          header: '',
          width: '76px',
          align: 'end' as const,
          isEssential: true,
          cell: ({ name }: EnvironmentVariable) => (
            <>
              <IconButton icon="pencil" label={`Change ${name}`} onClick={() => onAct('change', name)} />
              <IconButton icon="trash" label={`Delete ${name}`} onClick={() => onAct('delete', name)} />
            </>
          ),
        },
      ]
    : []),
];

const SecretMark = () => (
  <span className="muted">
    <span aria-hidden="true">••••••••</span> secret
  </span>
);
