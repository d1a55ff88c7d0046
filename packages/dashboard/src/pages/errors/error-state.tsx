import { Icon } from '../../parts/icons.tsx';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { Time } from '../../parts/time/time.tsx';
import type { ErrorDetail } from './error-detail.ts';
import { useNameOf } from './people.ts';

/** The state of a resolved or ignored group, and the condition that ends it. */
export function ErrorState({ group }: { readonly group: ErrorDetail }) {
  const nameOf = useNameOf();
  if (group.status === 'resolved')
    return (
      <div className="notice tone-good">
        <Icon name="check" />
        <span>
          Resolved
          {group.resolvedBy !== null && ` by ${visibleControls(nameOf(group.resolvedBy))}`}
          {group.resolvedAt !== null && (
            <>
              {' '}
              <Time at={group.resolvedAt} />
            </>
          )}
          .{' '}
          {group.resolvedInVersion === null
            ? 'It becomes unresolved again when a run that started later fails.'
            : `It becomes unresolved again when a run of version ${visibleControls(group.resolvedInVersion)} or a later one fails.`}
        </span>
      </div>
    );
  if (group.status === 'ignored') return <Ignored group={group} nameOf={nameOf} />;
  return null;
}

function Ignored({
  group,
  nameOf,
}: {
  readonly group: ErrorDetail;
  readonly nameOf: (userId: string) => string;
}) {
  const { ignoredUntil, ignoredUntilTotalOccurrences, ignoredUntilOccurrenceRate } = group;
  const ends = [
    ignoredUntilTotalOccurrences === null
      ? undefined
      : `it has occurred ${ignoredUntilTotalOccurrences.toLocaleString('en')} more times`,
    ignoredUntilOccurrenceRate === null
      ? undefined
      : `it occurs more than ${ignoredUntilOccurrenceRate.toLocaleString('en')} times a minute`,
  ].filter((end) => end !== undefined);
  return (
    <div className="notice">
      <Icon name="cancel" />
      <span>
        Ignored
        {group.ignoredByUserId !== null && ` by ${visibleControls(nameOf(group.ignoredByUserId))}`}
        {group.ignoredAt !== null && (
          <>
            {' '}
            <Time at={group.ignoredAt} />
          </>
        )}
        {ignoredUntil === null && ends.length === 0 ? (
          ', permanently'
        ) : (
          <>
            , until{' '}
            {ignoredUntil !== null && (
              <>
                <Time at={ignoredUntil} exact />
                {ends.length > 0 && ', or '}
              </>
            )}
            {ends.join(', or ')}
          </>
        )}
        .
        {group.ignoredReason !== null && (
          <span className="muted"> {visibleControls(group.ignoredReason)}</span>
        )}
      </span>
    </div>
  );
}
