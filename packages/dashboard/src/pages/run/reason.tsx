import type { RunReason } from '@millrace/contract';
import { useAsk } from '../../api/ask.ts';
import { Icon } from '../../parts/icons.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { Time } from '../../parts/time/time.tsx';
import type { RunDetail } from './use-run.ts';

/** Reasons that require manual action. */
const manualReasons: ReadonlySet<RunReason> = new Set([
  'no_version',
  'installation_paused',
  'environment_paused',
  'queue_paused',
  'no_runner',
]);

/** The reason why a run does not execute, with the page on which that can be changed. */
export function Reason({ run }: { readonly run: RunDetail }) {
  // A run whose next attempt is pending counts as executing.
  const isLive = !run.isCompleted;
  const reason = useAsk('retrieveRunReason', { params: { runId: run.id } }, { live: true, enabled: isLive });
  if (!isLive || !reason.data || reason.data.reason === 'not_waiting') return null;
  const { reason: kind, message, until, waitsFor, queue } = reason.data;
  const link = linkOf(kind, waitsFor, queue);
  return (
    <div className={`notice ${manualReasons.has(kind) ? 'tone-warn' : 'tone-waiting'}`} role="status">
      <Icon name={manualReasons.has(kind) ? 'errors' : 'schedules'} />
      <Message text={message} until={until} />
      {link && <PageLink to={link.to}>{link.label}</PageLink>}
    </div>
  );
}

/** The sentence with its time in the reader's zone. */
function Message({ text, until }: { readonly text: string; readonly until: string | undefined }) {
  const at = until === undefined ? -1 : text.indexOf(until);
  if (until === undefined) return <span>{text}</span>;
  return (
    <>
      {at === -1 ? (
        <span>{text}</span>
      ) : (
        <span>
          {text.slice(0, at)}
          <Time at={until} exact />
          {text.slice(at + until.length)}
        </span>
      )}
      <span className="muted">
        <Time at={until} />
      </span>
    </>
  );
}

function linkOf(
  kind: RunReason,
  waitsFor: string | undefined,
  queue: string | undefined,
): { readonly to: string; readonly label: string } | undefined {
  if (waitsFor?.startsWith('run_')) return { to: `/runs/${waitsFor}`, label: 'Open that run' };
  if (waitsFor?.startsWith('batch_')) return { to: `/batches/${waitsFor}`, label: 'Open that batch' };
  if (waitsFor?.startsWith('waitpoint_')) return { to: `/waits/${waitsFor}`, label: 'Complete the token' };
  if (kind === 'no_version' || kind === 'no_runner')
    return { to: '/versions', label: 'Versions and runners' };
  if (queue !== undefined && /^(?:queue|key|environment)_/.test(kind))
    return { to: `/queues/${encodeURIComponent(queue)}`, label: 'Open the queue' };
  return undefined;
}
