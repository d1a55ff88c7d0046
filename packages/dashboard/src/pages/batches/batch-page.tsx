import { useParams } from '@tanstack/react-router';
import { useAsk } from '../../api/ask.ts';
import { CodeExample, shellWord } from '../../parts/code/code-tabs.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Failure, Skeleton } from '../../parts/failure.tsx';
import { Id } from '../../parts/id.tsx';
import { shortId } from '../../parts/id-text.ts';
import { Properties, Page, Section } from '../../parts/page.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { PortionBar, PortionWords } from '../../parts/progress.tsx';
import { RunList } from '../../parts/runs/run-list.tsx';
import { Mark } from '../../parts/status/status.tsx';
import { countText } from '../../parts/count-text.ts';
import { Duration, Time } from '../../parts/time/time.tsx';
import { badgeOfBatch, portionsOf } from './badges.ts';

/** One batch: its progress and its runs. */
export function BatchPage() {
  const { batchId = '' } = useParams({ strict: false }) as { readonly batchId?: string };
  const query = useAsk('retrieveBatch', { params: { batchId } }, { live: true, keepPrevious: false });
  const batch = query.data;
  if (!batch)
    return (
      <Page title="Batch">
        {query.error ? (
          <Failure error={query.error} onRetry={() => void query.refetch()} />
        ) : (
          <Skeleton lines={6} />
        )}
      </Page>
    );
  const { counts, runCount, received } = batch;
  const ended = counts.completed + counts.failed + counts.ended;
  // Without a start time the list of runs covers seven days.
  const runs = {
    'filter[batch]': batch.id,
    'filter[createdAt][from]': String(Date.parse(batch.createdAt) - 60_000),
  };
  return (
    <Page
      title={`Batch of ${countText(runCount, 'run')}`}
      summary={
        <span className="row wrap">
          <Mark badge={badgeOfBatch(batch)} />
          <Id id={batch.id} />
        </span>
      }
      actions={
        <CodeExample
          operation="retrieveBatch"
          input={{ params: { batchId } }}
          cli={`runs list ${shellWord(`batch:${batch.id}`)}`}
          sdk={`import { batch } from '@millrace/sdk';\n\nconst { status, counts, runs } = await batch.retrieve('${batch.id}');`}
        />
      }
    >
      <section className="stack" aria-label="Progress">
        <PortionBar label="Runs" total={runCount} portions={portionsOf(batch)} />
        <div className="row wrap">
          <span className="strong number">
            {ended.toLocaleString('en')} of {countText(runCount, 'run')} ended
          </span>
          <PortionWords portions={portionsOf(batch)} />
        </div>
      </section>
      {received < runCount && (
        <div className="notice tone-warn">
          {batch.status === 'ABORTED'
            ? `Only ${countText(received, 'item')} of ${runCount.toLocaleString('en')} arrived within a day; its runs were canceled.`
            : `${countText(received, 'item')} of ${runCount.toLocaleString('en')} have arrived. Its runs start once all have arrived.`}
        </div>
      )}
      <Properties
        properties={[
          ['Created', <Time key="created" at={batch.createdAt} />],
          ['Filled', batch.sealedAt === undefined ? undefined : <Time key="filled" at={batch.sealedAt} />],
          [
            'Took',
            batch.status === 'PENDING' ? (
              <Duration key="took" since={batch.createdAt} />
            ) : (
              <Duration key="took" ms={Date.parse(batch.updatedAt) - Date.parse(batch.createdAt)} />
            ),
          ],
          [
            'Triggered by',
            batch.parentRunId === undefined ? undefined : (
              <Id key="parent" id={batch.parentRunId} short>
                <PageLink to={`/runs/${batch.parentRunId}`}>{shortId(batch.parentRunId)}</PageLink>
              </Id>
            ),
          ],
          ['Idempotency key', batch.idempotencyKey],
        ]}
      />
      <Section
        title="Runs"
        actions={
          <PageLink to="/runs" search={{ q: `batch:${batch.id} since:30d` }} className="button">
            Filter these runs
          </PageLink>
        }
      >
        <div className="edge">
          <RunList
            query={runs}
            empty={
              <Empty title="This batch has no stored runs.">
                {received === 0
                  ? 'Its items have not arrived yet.'
                  : 'They were deleted, or its items matched existing runs.'}
              </Empty>
            }
          />
        </div>
      </Section>
    </Page>
  );
}
