import { readableDuration } from '@millrace/contract/plain';
import { exactText, relativeText } from './format.ts';
import { useNow } from './now.ts';
import { useTimeZone } from './zone.ts';

/** `3m ago`, with the exact instant on hover. `exact`: the instant itself, with the relative time on hover. */
export function Time({ at, exact = false }: { readonly at: string | number; readonly exact?: boolean }) {
  const now = useNow();
  const zone = useTimeZone();
  const ms = typeof at === 'number' ? at : Date.parse(at);
  if (Number.isNaN(ms)) return <span className="muted">unknown</span>;
  const instant = exactText(ms, zone);
  const relative = relativeText(ms, now);
  return (
    <time
      dateTime={new Date(ms).toISOString()}
      className="number"
      data-tip={exact ? relative : `${instant}\n${new Date(ms).toISOString()}`}
    >
      {exact ? instant : relative}
    </time>
  );
}

/** A duration. Without `ms`, it is in progress: from `since` until now. */
export function Duration({
  ms,
  since,
}: {
  readonly ms?: number | undefined;
  readonly since?: string | undefined;
}) {
  if (ms === undefined && since !== undefined) return <RunningDuration since={since} />;
  return <span className="number">{ms === undefined ? '–' : readableDuration(ms)}</span>;
}

const RunningDuration = ({ since }: { readonly since: string }) => (
  <span className="number">{readableDuration(useNow() - Date.parse(since))}</span>
);
