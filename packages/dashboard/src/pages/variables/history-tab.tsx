import type { VariableRevision } from '@millrace/contract';
import { useAskPages } from '../../api/ask.ts';
import { useEnvironmentPath } from '../../api/environment.ts';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/empty.tsx';
import { shortId } from '../../parts/id-text.ts';
import { SidePanel } from '../../parts/panel/side-panel.tsx';
import { Person } from '../../parts/people.tsx';
import { useSearchTexts } from '../../parts/search.ts';
import { Segments } from '../../parts/segments.tsx';
import type { Column } from '../../parts/table/column.ts';
import { useLiveRows } from '../../parts/table/live-rows.ts';
import { LiveTable } from '../../parts/table/live-table.tsx';
import { Time } from '../../parts/time/time.tsx';
import { Difference } from './difference.tsx';
import { ChangedNames } from './changed-names.tsx';
import { actText, useRevisions } from './revisions.ts';

const keyOf = ({ revision }: VariableRevision): string => String(revision);

/** Every change of the environment's own variables: who made it, when, and the names. Each opens with its details. */
export function HistoryTab({ mayRollBack }: { readonly mayRollBack: boolean }) {
  const params = useEnvironmentPath();
  const [{ revision }, setSearch] = useSearchTexts();
  const pages = useAskPages('listVariableRevisions', { params, query: { 'page[size]': 100 } });
  const { data } = useRevisions();
  const live = useLiveRows(pages, data?.data, keyOf, JSON.stringify(params));
  const { rows } = live;
  return (
    <>
      <LiveTable
        list={{ ...live, pages }}
        noun="revision"
        label="History"
        columns={columns}
        rowKey={keyOf}
        onOpen={(row) => setSearch({ revision: keyOf(row) }, { push: revision === undefined })}
        openKey={revision}
        empty={
          <Empty title="No changes yet." command="npx millrace env set LOG_LEVEL=debug">
            Every change is a revision that you can compare and restore.
          </Empty>
        }
      />
      <RevisionPanel
        revision={rows.find((row) => keyOf(row) === revision)}
        number={revision}
        isNewest={rows[0] !== undefined && keyOf(rows[0]) === revision}
        mayRollBack={mayRollBack}
      />
    </>
  );
}

const columns: readonly Column<VariableRevision>[] = [
  {
    id: 'revision',
    header: 'Revision',
    width: '76px',
    isEssential: true,
    cell: ({ revision }) => <span className="number strong">{revision}</span>,
  },
  {
    id: 'names',
    header: 'What changed',
    width: 'minmax(110px, 3fr)',
    isEssential: true,
    cell: ({ changes }) => <ChangedNames changes={changes} />,
  },
  { id: 'act', header: 'How', width: 'minmax(110px, 1fr)', cell: (row) => <span>{actText(row)}</span> },
  {
    id: 'who',
    header: 'Who',
    width: 'minmax(110px, 1fr)',
    cell: ({ userId, credentialId }) =>
      userId === undefined ? (
        <span data-tip={credentialId}>Key {shortId(credentialId)}</span>
      ) : (
        <Person id={userId} />
      ),
  },
  { id: 'at', header: 'When', width: '96px', isEssential: true, cell: ({ at }) => <Time at={at} /> },
];

interface RevisionPanelProps {
  readonly revision: VariableRevision | undefined;
  readonly number: string | undefined;
  readonly isNewest: boolean;
  readonly mayRollBack: boolean;
}

/** One change: its details, or its differences from the present. */
function RevisionPanel({ revision, number, isNewest, mayRollBack }: RevisionPanelProps) {
  const [{ with: other = 'before' }, setSearch] = useSearchTexts();
  const at = Number(number);
  const isOpen = number !== undefined && Number.isInteger(at) && at > 0;
  return (
    <SidePanel
      isOpen={isOpen}
      onClose={() => setSearch({ revision: undefined, with: undefined })}
      title={`Revision ${number ?? ''}`}
      actions={
        mayRollBack &&
        !isNewest && (
          <Button
            icon="replay"
            onClick={() => setSearch({ rollback: number, revision: undefined, with: undefined })}
          >
            Roll back to this
          </Button>
        )
      }
    >
      {isOpen && (
        <div className="stack">
          {revision && (
            <p className="muted">
              {actText(revision)} by{' '}
              {revision.userId === undefined ? (
                `the key ${shortId(revision.credentialId)}`
              ) : (
                <Person id={revision.userId} isInline />
              )}
              , <Time at={revision.at} />
            </p>
          )}
          <Segments
            label="Compare"
            options={[
              { value: 'before', label: 'Its changes' },
              { value: 'now', label: 'Changes since then' },
            ]}
            value={other}
            onChange={(next) => setSearch({ with: next === 'now' ? next : undefined })}
          />
          {other === 'now' ? <Difference from={at} to={undefined} /> : <Difference from={at - 1} to={at} />}
        </div>
      )}
    </SidePanel>
  );
}
