import type { Attempt } from '@millrace/contract';
import { readableDuration } from '@millrace/contract/plain';
import { useAsk } from '../../api/ask.ts';
import { Empty } from '../../parts/empty.tsx';
import { Failure, Skeleton } from '../../parts/failure.tsx';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { PageLink } from '../../parts/page-link.tsx';
import { Duration, Time } from '../../parts/time/time.tsx';
import { attemptWords } from './timeline/words.ts';

/** The differences from the previous attempt, which are usually the relevant part. */
export function changesOf(attempt: Attempt, before: Attempt | undefined): ReadonlySet<string> {
  if (!before) return new Set();
  const pairs: readonly (readonly [string, unknown, unknown])[] = [
    ['version', attempt.version, before.version],
    ['runner', attempt.runner?.host, before.runner?.host],
    ['variables', attempt.variablesRevision, before.variablesRevision],
    ['error', attempt.error?.message, before.error?.message],
  ];
  return new Set(pairs.filter(([, now, then]) => now !== then).map(([name]) => name));
}

/** The attempts of a run. Differences from the previous attempt are highlighted. */
export function AttemptsTab({ runId, isLive }: { readonly runId: string; readonly isLive: boolean }) {
  const attempts = useAsk('listRunAttempts', { params: { runId } }, { live: isLive });
  if (attempts.error && !attempts.data) return <Failure error={attempts.error} />;
  if (!attempts.data) return <Skeleton lines={4} label="Loading attempts" />;
  const all = attempts.data.data;
  if (all.length === 0) return <Empty title="No attempts yet. The run has not been assigned to a runner." />;
  return (
    <div className="card attempts" tabIndex={0} role="region" aria-label="Attempts">
      <table className="plain-table">
        <thead>
          <tr>
            {[
              'Attempt',
              'Result',
              'Started',
              'Duration',
              'Waited',
              'Version',
              'Runner',
              'Variables',
              'Error',
            ].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {all.map((attempt, index) => (
            <AttemptRow
              key={`${attempt.number} ${attempt.startedAt}`}
              attempt={attempt}
              before={all[index - 1]}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

const tones: Readonly<Partial<Record<Attempt['status'], string>>> = {
  COMPLETED: 'tone-good',
  EXECUTING: 'tone-busy',
  WAITING: 'tone-waiting',
  FAILED: 'tone-bad',
  CRASHED: 'tone-bad',
  TIMED_OUT: 'tone-bad',
  SYSTEM_FAILURE: 'tone-bad',
  LOST: 'tone-bad',
};

function AttemptRow({
  attempt,
  before,
}: {
  readonly attempt: Attempt;
  readonly before: Attempt | undefined;
}) {
  const changes = changesOf(attempt, before);
  const cell = (name: string): string => (changes.has(name) ? 'is-changed' : '');
  const tip = (name: string): string | undefined =>
    changes.has(name) ? 'Differs from the previous attempt' : undefined;
  const waited = attempt.waitedFor.reduce(
    (sum, { from, until }) => sum + Date.parse(until) - Date.parse(from),
    0,
  );
  return (
    <tr>
      <th scope="row" className="number">
        {attempt.number}
      </th>
      <td className={tones[attempt.status] ?? 'tone-quiet'}>{attemptWords[attempt.status]}</td>
      <td>
        <Time at={attempt.startedAt} />
      </td>
      <td>
        {attempt.endedAt === undefined ? (
          <Duration since={attempt.startedAt} />
        ) : (
          <Duration ms={attempt.durationMs} />
        )}
      </td>
      <td className="number">{waited > 0 ? readableDuration(waited) : '–'}</td>
      <td className={`mono ${cell('version')}`} data-tip={tip('version')}>
        {attempt.version ?? '–'}
      </td>
      <td className={cell('runner')} data-tip={tip('runner')}>
        {attempt.runner ? `${attempt.runner.host} (${attempt.runner.pid})` : '–'}
      </td>
      <td className={`number ${cell('variables')}`} data-tip={tip('variables')}>
        {attempt.variablesRevision === undefined ? '–' : `revision ${attempt.variablesRevision}`}
      </td>
      <td className={`attempt-error ${cell('error')}`} data-tip={tip('error')}>
        {attempt.error ? (
          <>
            <span>{visibleControls(attempt.error.message.slice(0, 300))}</span>{' '}
            {attempt.error.group !== undefined && (
              <PageLink to={`/errors/${attempt.error.group}`}>its group</PageLink>
            )}
          </>
        ) : (
          '–'
        )}
        {attempt.retryDelayMs !== undefined && (
          <span className="muted"> next after {readableDuration(attempt.retryDelayMs)}</span>
        )}
      </td>
    </tr>
  );
}
