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
  assigned: { word: 'Assigned', glyph: 'disc', tone: 'quiet' },
  noted: { word: 'Note changed', glyph: 'disc', tone: 'quiet' },
  linked: { word: 'Ticket changed', glyph: 'disc', tone: 'quiet' },
};

const assigneeOf = (after: ErrorChange['after'], nameOf: (userId: string) => string): string =>
  after?.ownerUserId === undefined ? (after?.owner ?? 'the owner of the task') : nameOf(after.ownerUserId);

/** The changes of the group, newest first. */
export function History({ errorId }: { readonly errorId: string }) {
  const history = useAskPages('listErrorHistory', { params: { errorId }, query: { 'page[size]': 10 } });
  const nameOf = useNameOf();
  return (
    <Section title="History">
      {history.items.length === 0 ? (
        <p className="muted">{history.isPending ? '' : 'No changes yet.'}</p>
      ) : (
        <ol className="card error-history">
          {history.items.map(({ id, at, act, userId, credentialId, before, after }) => (
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
                {act === 'assigned' && `, to ${visibleControls(assigneeOf(after, nameOf))}`}
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
