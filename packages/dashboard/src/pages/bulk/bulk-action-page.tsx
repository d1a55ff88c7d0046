import { useParams } from '@tanstack/react-router';
import { useAsk } from '../../api/ask.ts';
import { CodeExample } from '../../parts/code/code-tabs.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Failure, Skeleton } from '../../parts/failure.tsx';
import { Id } from '../../parts/id.tsx';
import { Properties, Page, Section } from '../../parts/page.tsx';
import { PortionBar, PortionWords } from '../../parts/progress.tsx';
import { RunList } from '../../parts/runs/run-list.tsx';
import { Mark } from '../../parts/status/status.tsx';
import { countText } from '../../parts/count-text.ts';
import { Duration, Time } from '../../parts/time/time.tsx';
import { bulkBadges, doneOf, portionsOf, verbs } from './badges.ts';
import { StopButton } from './stop-button.tsx';

/** One bulk action: its progress, and the runs that it created. */
export function BulkActionPage() {
  const { bulkActionId = '' } = useParams({ strict: false }) as { readonly bulkActionId?: string };
  const input = { params: { bulkActionId } };
  const query = useAsk('retrieveBulkAction', input, { live: 1_000, keepPrevious: false });
  const action = query.data;
  if (!action)
    return (
      <Page title="Bulk action">
        {query.error ? (
          <Failure error={query.error} onRetry={() => void query.refetch()} />
        ) : (
          <Skeleton lines={6} />
        )}
      </Page>
    );
  const { type, counts, status, name } = action;
  const what = `${verbs[type].now} ${countText(counts.total, 'run')}`;
  return (
    <Page
      title={what}
      heading={name ?? what}
      summary={
        <span className="row wrap">
          <Mark badge={bulkBadges[status]} />
          {name !== undefined && <span>{what}</span>}
          <Id id={action.id} />
        </span>
      }
      actions={
        <>
          <StopButton action={action} />
          <CodeExample
            operation="retrieveBulkAction"
            input={input}
            cli={`runs bulk show ${action.id}`}
            sdk={`import { runs } from '@millrace/sdk';\n\nconst action = await runs.bulk.poll('${action.id}');`}
          />
        </>
      }
    >
      <section className="stack" aria-label="Progress">
        <PortionBar label="Runs" total={counts.total} portions={portionsOf(action)} />
        <div className="row wrap" role="status">
          <span className="strong number">
            {doneOf(action).toLocaleString('en')} of {countText(counts.total, 'run')} done
          </span>
          <PortionWords portions={portionsOf(action)} />
          {status === 'ABORTED' && (
            <span className="muted number">
              {countText(Math.max(0, counts.total - doneOf(action)), 'run')} unchanged
            </span>
          )}
        </div>
      </section>
      <Properties
        properties={[
          ['Started', <Time key="started" at={action.createdAt} />],
          [
            'Took',
            action.completedAt === undefined ? (
              <Duration key="took" since={action.createdAt} />
            ) : (
              <Duration key="took" ms={Date.parse(action.completedAt) - Date.parse(action.createdAt)} />
            ),
          ],
        ]}
      />
      <Section title="Runs">
        <div className="edge">
          <RunList
            query={{ 'filter[bulkAction]': action.id, 'filter[createdAt][period]': '30d' }}
            empty={
              <Empty title={status === 'PENDING' ? 'No runs processed yet.' : 'None of its runs are stored.'}>
                {type === 'REPLAY' ? 'The new runs are listed here.' : 'The canceled runs are listed here.'}
              </Empty>
            }
          />
        </div>
      </Section>
    </Page>
  );
}
