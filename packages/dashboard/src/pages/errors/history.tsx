import type { ErrorChange } from '@millrace/contract';
import { useAskPages } from '../../api/ask.ts';
import { Button } from '../../parts/button.tsx';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { Section } from '../../parts/page.tsx';
import { Mark } from '../../parts/status/status.tsx';
import type { Badge } from '../../parts/status/run-status.ts';
import { Time } from '../../parts/time/time.tsx';
import { useNameOf } from './people.ts';

const badges: Readonly<Record<ErrorChange['act'], Badge>> = {
  resolved: { word: 'Resolved', glyph: 'disc', tone: 'good' },
  ignored: { word: 'Ignored', glyph: 'slashed', tone: 'quiet' },
  unresolved: { word: 'Marked as unresolved', glyph: 'ring', tone: 'quiet' },
  regressed: { word: 'Occurred again', glyph: 'cross', tone: 'bad' },
  ignoreEnded: { word: 'No longer ignored', glyph: 'clock', tone: 'warn' },
  merged: { word: 'Merged', glyph: 'half', tone: 'quiet' },
  split: { word: 'Split', glyph: 'half', tone: 'quiet' },
};

/** The changes of the group, newest first. */
export function History({ errorId }: { readonly errorId: string }) {
  const history = useAskPages('listErrorHistory', { params: { errorId }, query: { 'page[size]': 10 } });
  const nameOf = useNameOf();
  return (
    <Section title="History">
      {history.items.length === 0 ? (
        <p className="muted">{history.isPending ? '' : 'Not resolved or ignored yet.'}</p>
      ) : (
        <ol className="card error-history">
          {history.items.map(({ id, at, act, userId, credentialId, before }) => (
            <li key={id}>
              <Mark badge={badges[act]} />
              <span className="muted small">
                {userId !== undefined
                  ? `by ${visibleControls(nameOf(userId))}`
                  : credentialId !== undefined
                    ? `with ${credentialId}`
                    : 'automatically'}
                {act === 'regressed' &&
                  before.resolvedInVersion !== undefined &&
                  `, was resolved in ${before.resolvedInVersion}`}
              </span>
              <span className="small muted">
                <Time at={at} />
              </span>
            </li>
          ))}
          {history.hasMore && (
            <li>
              <Button variant="plain" onClick={history.loadMore}>
                Older
              </Button>
            </li>
          )}
        </ol>
      )}
    </Section>
  );
}
