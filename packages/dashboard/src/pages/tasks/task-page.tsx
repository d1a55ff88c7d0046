import { useParams } from '@tanstack/react-router';
import { ApiError } from '../../api/api-error.ts';
import { useAsk } from '../../api/ask.ts';
import { useMay } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { CodeExample, shellWord } from '../../parts/code/code-tabs.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Failure, Skeleton } from '../../parts/failure.tsx';
import { Id } from '../../parts/id.tsx';
import { JsonTree } from '../../parts/json/json-tree.tsx';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { useShortcuts } from '../../parts/keyboard.ts';
import { PageLink } from '../../parts/page-link.tsx';
import { Properties, Page } from '../../parts/page.tsx';
import { useSearchTexts } from '../../parts/search.ts';
import { Tabs } from '../../parts/tabs.tsx';
import type { TaskDetail } from './task-detail.ts';
import { TaskOverview } from './task-overview.tsx';
import { retryText, startsText } from './task-words.ts';
import { TestTab } from './test/test-tab.tsx';
import './tasks.css';

/** One task: its settings, its runs, and a form to test it. */
export function TaskPage() {
  const { taskId = '' } = useParams({ strict: false }) as { taskId?: string };
  const task = useAsk('retrieveTask', { params: { taskId } }, { live: 15_000, keepPrevious: false });
  // Each task has its own state, so that typed text is not applied to another.
  if (task.data) return <OneTask key={task.data.id} task={task.data} />;
  return (
    <Page title="Task">
      {task.error instanceof ApiError && task.error.status === 404 ? (
        <Empty
          title="Task not found in the current version."
          action={
            <PageLink to="/runs" search={{ q: `task:${taskId} since:30d` }} className="button">
              Show its runs
            </PageLink>
          }
        >
          It may belong to an older version or another environment.
        </Empty>
      ) : task.error ? (
        <Failure error={task.error} onRetry={() => void task.refetch()} />
      ) : (
        <Skeleton lines={8} label="Loading the task" />
      )}
    </Page>
  );
}

function OneTask({ task }: { readonly task: TaskDetail }) {
  const [{ view = '' }, setSearch] = useSearchTexts();
  const may = useMay();
  const canTest = may('triggerTask');
  const show = (id: string): void => setSearch({ view: id, panel: undefined }, { push: true });
  useShortcuts(canTest ? [{ keys: 't', label: 'Test the task', run: () => show('test') }] : []);
  return (
    <Page
      title={`${task.id} · Task`}
      heading={visibleControls(task.id)}
      summary={task.description === undefined ? undefined : visibleControls(task.description)}
      actions={
        <>
          {canTest && view !== 'test' && (
            <Button icon="play" variant="main" shortcut="t" onClick={() => show('test')}>
              Test it
            </Button>
          )}
          <CodeExample
            operation="retrieveTask"
            input={{ params: { taskId: task.id } }}
            cli={`tasks show ${shellWord(task.id)}`}
            sdk={`import { tasks } from '@millrace/sdk';\n\nawait tasks.trigger(${JSON.stringify(task.id)}, {});`}
          />
        </>
      }
    >
      <TaskProperties task={task} />
      <Tabs
        label="About the task"
        selected={view}
        onSelect={show}
        tabs={[
          { id: 'overview', label: 'Overview', content: <TaskOverview task={task} /> },
          ...(canTest ? [{ id: 'test', label: 'Test', content: <TestTab task={task} /> }] : []),
          {
            id: 'schema',
            label: 'Schema',
            content:
              task.payloadSchema === null ? (
                <Empty title="The task has no JSON Schema.">
                  A task with <code>schema</code> of a library that generates JSON Schema, such as zod, has
                  one. Its test tab then shows a form.
                </Empty>
              ) : (
                <JsonTree label="Schema" value={task.payloadSchema} depth={4} />
              ),
          },
        ]}
      />
    </Page>
  );
}

const TaskProperties = ({ task }: { readonly task: TaskDetail }) => (
  <Properties
    properties={[
      ['Version', <span className="mono">{task.version}</span>],
      task.owner === undefined ? undefined : ['Owner', visibleControls(task.owner)],
      [
        'File',
        <Id id={task.filePath}>
          {visibleControls(task.filePath)}
          {task.exportName !== undefined && (
            <span className="muted"> {visibleControls(task.exportName)}</span>
          )}
        </Id>,
      ],
      [
        'Queue',
        <>
          <PageLink to={`/queues/${encodeURIComponent(task.queue.name)}`}>
            {visibleControls(task.queue.name)}
          </PageLink>
          {task.queue.concurrencyLimit !== null && (
            <span className="muted number"> {task.queue.concurrencyLimit} at once</span>
          )}
        </>,
      ],
      ['Retries', retryText(task)],
      task.maxDuration === undefined
        ? undefined
        : ['At most', <span className="number">{task.maxDuration}s an attempt</span>],
      task.ttl === undefined
        ? undefined
        : ['Expires', <span className="number">after {task.ttl}s in the queue</span>],
      task.machine === undefined ? undefined : ['Machine', task.machine],
      task.requires.length === 0 ? undefined : ['Requires', task.requires.map(visibleControls).join(', ')],
      task.isolated ? ['Process', 'its own'] : undefined,
      startsText(task) === undefined ? undefined : ['Automatic triggers', startsText(task)],
    ]}
  />
);
