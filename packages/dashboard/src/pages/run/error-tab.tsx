import { useAsk } from '../../api/ask.ts';
import { useOpened } from '../../api/sealed.ts';
import { SealedNote } from '../../parts/sealed-note.tsx';
import { PageLink } from '../../parts/page-link.tsx';
import { Plot } from '../../parts/plot/plot.tsx';
import { ErrorView } from '../../parts/stack/stack.tsx';
import { countText } from '../../parts/count-text.ts';
import { Time } from '../../parts/time/time.tsx';
import { LastLines } from './logs/last-lines.tsx';
import type { RunDetail } from './use-run.ts';

/** The error of the run, and its frequency. */
export function ErrorTab({
  run,
  error,
}: {
  readonly run: RunDetail;
  readonly error: NonNullable<RunDetail['error']>;
}) {
  const attempts = useAsk('listRunAttempts', { params: { runId: run.id } });
  const group = attempts.data?.data.findLast((attempt) => attempt.error?.group !== undefined)?.error?.group;
  const { opened, displayed } = useOpenedError(error);
  return (
    <div className="error-columns">
      <div className="stack-small">
        <SealedNote opened={opened} />
        <ErrorView error={displayed} causes={displayed.causes} version={run.version} />
        <LastLines runId={run.id} endedAt={run.finishedAt} />
      </div>
      {group !== undefined && <Group id={group} />}
    </div>
  );
}

type ErrorResponse = NonNullable<RunDetail['error']>;

/** An error that was sealed as a whole, with its causes in one list, as the server returns others. */
function useOpenedError(error: ErrorResponse) {
  const opened = useOpened(envelopeOf(error.sealed));
  if (opened.state !== 'opened') return { opened, displayed: error };
  const { message, name, stackTrace, causes } = opened.value as SealedError;
  return { opened, displayed: { message, name, stackTrace, causes: flat(causes) } as ErrorResponse };
}

interface SealedError {
  readonly message: string;
  readonly name: string;
  readonly stackTrace: string;
  readonly causes?: readonly SealedError[];
}

const flat = (causes: readonly SealedError[] = []): SealedError[] =>
  causes.flatMap(({ causes: deeper, ...cause }) => [cause, ...flat(deeper)]);

function envelopeOf(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}

/** The error group: whether it is new, its frequency and its first occurrence. */
function Group({ id }: { readonly id: string }) {
  const group = useAsk('retrieveError', { params: { errorId: id }, query: { trend: '7d' } });
  if (!group.data) return null;
  const { count, firstSeen, lastSeen, status, trend } = group.data;
  return (
    <aside className="card error-group" aria-label="Error group">
      <div className="row spread">
        <h3>Error group</h3>
        <span className={status === 'unresolved' ? 'tone-bad' : 'muted'}>{status}</span>
      </div>
      {trend && (
        <Plot
          label="Occurrences in seven days"
          times={trend.points.map(({ from }) => Date.parse(from))}
          series={[{ name: 'Occurrences', color: '--bad', values: trend.points.map((point) => point.count) }]}
          isStacked
          hasAxes={false}
          height={40}
        />
      )}
      <p>
        {countText(count, 'time')}, first <Time at={firstSeen} />, last <Time at={lastSeen} />
      </p>
      <PageLink to={`/errors/${id}`}>Open the group</PageLink>
    </aside>
  );
}
