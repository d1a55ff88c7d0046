import type { Queue, RunReasonReply } from '@millrace/contract';
import { useQueries } from '@tanstack/react-query';
import { keyOf, useAsk } from '../../api/ask.ts';
import { call } from '../../api/client.ts';
import { useEnvironment } from '../../api/environment.ts';
import { useLive } from '../../api/live.ts';
import { countText } from '../../parts/count-text.ts';
import { Icon } from '../../parts/icons.tsx';
import { shortId } from '../../parts/id-text.ts';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { PageLink } from '../../parts/page-link.tsx';
import { fullName } from '../../parts/queue-name.ts';

/** Number of waiting runs for which the reason is requested. */
const sampleSize = 5;

/** Reasons that require manual action, with the page for it. */
const ends: Readonly<Record<string, readonly [page: string, label: string]>> = {
  environment_paused: ['/queues', 'All queues'],
  no_version: ['/versions', 'Versions'],
  no_runner: ['/versions', 'Versions and runners'],
  environment_at_limit: ['/queues', 'All queues'],
};

/** The reasons why runs of the queue wait, in the server's words, for a sample of them. */
export function WhyWaiting({ queue }: { readonly queue: Queue }) {
  const environment = useEnvironment();
  const { isPaused } = useLive();
  const waiting = useAsk(
    'listRuns',
    {
      query: {
        'filter[queue]': fullName(queue),
        'filter[status]': 'QUEUED',
        'filter[createdAt][period]': '30d',
        'page[size]': sampleSize,
      },
    },
    { live: true, enabled: queue.queued > 0 },
  );
  const runs = queue.queued > 0 ? (waiting.data?.data ?? []) : [];
  const reasons = useQueries({
    queries: runs.map(({ id }) => ({
      queryKey: keyOf(environment, 'retrieveRunReason', { params: { runId: id } }),
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        call('retrieveRunReason', { params: { runId: id } }, { environment, signal }),
      refetchInterval: isPaused ? (false as const) : 10_000,
    })),
  });
  const found = reasons.flatMap(({ data }) => (data && data.reason !== 'not_waiting' ? [data] : []));
  const groups = byReason(found);

  if (groups.length === 0 && !queue.paused) return null;
  return (
    <section className="stack-tight" aria-label="Why runs wait" role="status">
      {queue.paused && groups.length === 0 && (
        <div className="notice tone-warn">
          <Icon name="pause" />
          <span className="notice-text">The queue is paused: its runs do not start.</span>
        </div>
      )}
      {groups.map(([reason, { message, id, ahead }, count]) => {
        const [page, label] = ends[reason] ?? [];
        const isBlocked = reason === 'queue_paused' || page !== undefined;
        return (
          <div key={reason} className={`notice ${isBlocked ? 'tone-warn' : 'tone-waiting'}`}>
            <Icon name={reason === 'queue_paused' ? 'pause' : isBlocked ? 'errors' : 'schedules'} />
            <span className="notice-text">
              {visibleControls(message)}
              {groups.length > 1 && (
                <span className="muted">
                  {' '}
                  {countText(count, 'run')} of the latest {found.length}.
                </span>
              )}
              {ahead !== undefined && ahead > 0 && (
                <span className="muted"> {ahead >= 1_000 ? '1,000+' : ahead} ahead of the latest.</span>
              )}
            </span>
            <PageLink to={`/runs/${id}`} className="small">
              {shortId(id)}
            </PageLink>
            {page !== undefined && <PageLink to={page}>{label}</PageLink>}
          </div>
        );
      })}
    </section>
  );
}

/** Each reason with its first response, and the number of runs. */
function byReason(
  replies: readonly RunReasonReply[],
): readonly (readonly [reason: string, first: RunReasonReply, count: number])[] {
  const found = new Map<string, [RunReasonReply, number]>();
  for (const reply of replies) {
    const before = found.get(reply.reason);
    if (before) before[1] += 1;
    else found.set(reply.reason, [reply, 1]);
  }
  return [...found].map(([reason, [first, count]]) => [reason, first, count] as const);
}
