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
  const isWaiting = !run.isCompleted && !run.isExecuting;
  const reason = useAsk(
    'retrieveRunReason',
    { params: { runId: run.id } },
    { live: true, enabled: isWaiting },
  );
  if (!isWaiting || !reason.data || reason.data.reason === 'not_waiting') return null;
  const { reason: kind, message, until, waitsFor, queue } = reason.data;
  const link = linkOf(kind, waitsFor, queue);
  return (
    <div className={`notice ${manualReasons.has(kind) ? 'tone-warn' : 'tone-waiting'}`} role="status">
      <Icon name={manualReasons.has(kind) ? 'errors' : 'schedules'} />
      <span>{message}</span>
      {until !== undefined && (
        <span className="muted">
          <Time at={until} />
        </span>
      )}
      {link && <PageLink to={link.to}>{link.label}</PageLink>}
    </div>
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
