import { useState } from 'react';
import { useAct } from '../../api/ask.ts';
import { useMay } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { countText } from '../../parts/count-text.ts';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { visibleControls } from '../../parts/json/visible-controls.ts';
import { useShortcuts } from '../../parts/keyboard.ts';
import { BulkBar } from '../../parts/table/bulk-bar.tsx';
import type { Selection } from '../../parts/table/selection.ts';
import type { ErrorItem } from './error-columns.tsx';
import { useEach } from './use-each.ts';

interface BulkErrorsProps {
  readonly selection: Selection;
  /** The loaded groups. */
  readonly rows: readonly ErrorItem[];
}

/** Resolves, ignores or merges the selected groups. The first two can be undone; merging requires confirmation. */
export function BulkErrors({ selection, rows }: BulkErrorsProps) {
  const [isMerging, setMerging] = useState(false);
  const may = useMay();
  const { done, change } = useEach();
  const merge = useAct('mergeErrors', {
    showsErrors: true,
    done: 'Errors merged',
    onDone: () => {
      setMerging(false);
      selection.clear();
    },
  });
  const chosen = rows.filter(({ id }) => selection.ids.has(id));
  const ids = chosen.map(({ id }) => id);
  const what = countText(chosen.length, 'error');
  const [into, ...others] = chosen.toSorted((a, b) => b.count - a.count);
  const isOneTask = chosen.every(({ taskIdentifier }) => taskIdentifier === into?.taskIdentifier);
  const canMerge = others.length > 0 && isOneTask && may('mergeErrors');
  const canChange = ids.length > 0 && may('resolveError') && done === undefined;
  const run = async (
    name: 'resolveError' | 'ignoreError' | 'unresolveError',
    message: string,
  ): Promise<void> => {
    selection.clear();
    await change(name, ids, message, name === 'unresolveError' ? undefined : 'unresolveError');
  };
  const areUnresolved = chosen.some(({ status }) => status === 'unresolved');
  useShortcuts(
    canChange
      ? [{ keys: 'e', label: `Resolve ${what}`, run: () => void run('resolveError', 'Resolved') }]
      : [],
  );
  if (done !== undefined)
    return (
      <div className="bulk-bar" role="status">
        <span className="number">{countText(done, 'error')} done</span>
      </div>
    );
  return (
    <>
      <BulkBar selection={selection} noun="error">
        {canChange && areUnresolved && (
          <>
            <Button icon="check" shortcut="e" onClick={() => void run('resolveError', 'Resolved')}>
              Resolve {what}
            </Button>
            <Button icon="cancel" onClick={() => void run('ignoreError', 'Ignored')}>
              Ignore {what}
            </Button>
          </>
        )}
        {canChange && !areUnresolved && (
          <Button icon="replay" onClick={() => void run('unresolveError', 'Unresolved again:')}>
            Mark {what} as unresolved
          </Button>
        )}
        {canMerge && (
          <Button icon="batches" onClick={() => setMerging(true)}>
            Merge {what}
          </Button>
        )}
      </BulkBar>
      <Confirm
        isOpen={isMerging}
        onClose={() => setMerging(false)}
        title={`Merge ${what} into one?`}
        action={`Merge ${what}`}
        isHarmless
        isBusy={merge.isPending}
        error={merge.error?.message}
        onConfirm={() =>
          into && merge.mutate({ params: { errorId: into.id }, body: { errors: others.map(({ id }) => id) } })
        }
      >
        They and their future errors count for “{visibleControls((into?.errorMessage ?? '').slice(0, 120))}”,
        the group with the most occurrences. Its state is kept. You can split them again on its page.
      </Confirm>
    </>
  );
}
