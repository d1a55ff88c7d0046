import type { TaskInfo } from '@millrace/contract';
import { quotedValue } from '@millrace/contract/filter';
import { useAsk } from '../../api/ask.ts';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/code/code-tabs.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Failure } from '../../parts/failure.tsx';
import { PageLink, useGoTo } from '../../parts/page-link.tsx';
import type { Column } from '../../parts/table/column.ts';
import { Table } from '../../parts/table/table.tsx';

type Subscription = TaskInfo & { readonly on: NonNullable<TaskInfo['on']> };

const columnsOf = (onSend: ((name: string) => void) | undefined): readonly Column<Subscription>[] => [
  {
    id: 'event',
    header: 'Event',
    width: 'minmax(110px, 1.2fr)',
    isEssential: true,
    cell: ({ on }) =>
      // The list of events only supports exact names.
      on.name.includes('*') ? (
        <span className="cut event-name">{on.name}</span>
      ) : (
        <PageLink to="/events" search={{ q: `name:${quotedValue(on.name)}` }} className="cut event-name">
          {on.name}
        </PageLink>
      ),
  },
  {
    id: 'task',
    header: 'Triggered task',
    width: 'minmax(110px, 1.2fr)',
    isEssential: true,
    cell: ({ id }) => (
      <PageLink to={`/tasks/${encodeURIComponent(id)}`} className="cut">
        {id}
      </PageLink>
    ),
  },
  {
    id: 'filter',
    header: 'Only if',
    width: 'minmax(110px, 2fr)',
    cell: ({ on }) =>
      on.filter === undefined ? (
        <span className="muted">always</span>
      ) : (
        <code className="cut" title={JSON.stringify(on.filter)}>
          {JSON.stringify(on.filter)}
        </code>
      ),
  },
  {
    id: 'version',
    header: 'Version',
    width: 'minmax(70px, 130px)',
    cell: ({ version }) => <span className="mono cut">{version}</span>,
  },
  ...(onSend
    ? [
        {
          id: 'send',
          header: '',
          width: '84px',
          align: 'end' as const,
          isEssential: true,
          cell: ({ on }: Subscription) => (
            <Button variant="plain" onClick={() => onSend(on.name)}>
              Send
            </Button>
          ),
        },
      ]
    : []),
];

const example = `export const welcome = task({
  id: 'welcome',
  on: event({ name: 'user.created' }),
  run: async (user) => {},
});`;

/** The tasks that an event triggers, as declared by the current version. */
export function Subscriptions({ onSend }: { readonly onSend: ((name: string) => void) | undefined }) {
  const goTo = useGoTo();
  const tasks = useAsk('listTasks', {}, { live: 30_000 });
  const rows = (tasks.data?.data ?? [])
    .filter((task): task is Subscription => task.on !== undefined)
    .toSorted((a, b) => a.on.name.localeCompare(b.on.name) || a.id.localeCompare(b.id));
  if (tasks.error && !tasks.data) return <Failure error={tasks.error} onRetry={() => void tasks.refetch()} />;
  return (
    <div className="edge">
      <Table
        label="Subscriptions"
        columns={columnsOf(onSend)}
        rows={rows}
        rowKey={({ id }) => id}
        onOpen={({ id }) => goTo(`/tasks/${encodeURIComponent(id)}`)}
        isPending={tasks.isPending}
        empty={
          <Empty title="No task is subscribed to an event." action={<CodeBlock text={example} />}>
            A subscription is part of a task in your code:
          </Empty>
        }
      />
    </div>
  );
}
