import { useState } from 'react';
import { useAct, useAsk } from '../../api/ask.ts';
import { useMay } from '../../api/session.ts';
import { toast } from '../../api/toasts.ts';
import { Button, IconButton } from '../../parts/button.tsx';
import { CodeExample } from '../../parts/code/code-tabs.tsx';
import { useShortcuts } from '../../parts/keyboard.ts';
import { Menu } from '../../parts/menu.tsx';
import type { ErrorDetail } from './error-detail.ts';
import { IgnoreDialog } from './ignore-dialog.tsx';
import { MergeDialog } from './merge-dialog.tsx';
import { nextVersion } from './next-version.ts';
import { RuleDialog } from './rule-dialog.tsx';

/** Resolve, ignore, merge, and a rule for errors like these. */
export function ErrorActions({ group }: { readonly group: ErrorDetail }) {
  const [dialog, setDialog] = useState<'ignore' | 'merge' | 'rule'>();
  const may = useMay();
  const params = { errorId: group.id };
  const newest = useAsk('listDeployments', { query: { 'page[size]': 1 } }).data?.data[0]?.version;
  const next = nextVersion(newest, Date.now());
  const unresolve = useAct('unresolveError', { done: 'Unresolved again' });
  const undo = (): void => unresolve.mutate({ params });
  const resolve = useAct('resolveError', {
    onDone: ({ resolvedInVersion }) =>
      toast({
        title: resolvedInVersion === null ? 'Error resolved' : `Error resolved in ${resolvedInVersion}`,
        undo,
      }),
  });
  const canResolve = may('resolveError') && group.status !== 'resolved';
  useShortcuts([
    ...(canResolve
      ? [{ keys: 'e', label: 'Resolve the error', run: () => resolve.mutate({ params, body: {} }) }]
      : []),
    ...(may('ignoreError') && group.status === 'unresolved'
      ? [{ keys: 'i', label: 'Ignore the error', run: () => setDialog('ignore') }]
      : []),
  ]);
  const resolveIn = (resolvedInVersion: string): void =>
    resolve.mutate({ params, body: { resolvedInVersion } });
  const entries = [
    ...(next === undefined
      ? []
      : [{ label: `In the next version, ${next}`, onSelect: () => resolveIn(next) }]),
    ...(newest === undefined
      ? []
      : [{ label: `In the newest version, ${newest}`, onSelect: () => resolveIn(newest) }]),
  ];
  const more = [
    ...(may('mergeErrors')
      ? [
          {
            label: 'Merge other errors into this one',
            icon: 'batches' as const,
            onSelect: () => setDialog('merge'),
          },
        ]
      : []),
    ...(may('previewErrorRule')
      ? [
          {
            label: 'Add a grouping rule for errors like this',
            icon: 'settings' as const,
            onSelect: () => setDialog('rule'),
          },
        ]
      : []),
  ];
  return (
    <>
      {canResolve && (
        <span className="split-button">
          <Button
            icon="check"
            variant="main"
            shortcut="e"
            isBusy={resolve.isPending}
            onClick={() => resolve.mutate({ params, body: {} })}
          >
            Resolve
          </Button>
          {entries.length > 0 && (
            <Menu
              trigger={<IconButton icon="down" label="Resolve in a version" className="split-more" />}
              entries={entries}
            />
          )}
        </span>
      )}
      {may('ignoreError') && group.status === 'unresolved' && (
        <Button icon="cancel" shortcut="i" onClick={() => setDialog('ignore')}>
          Ignore
        </Button>
      )}
      {may('unresolveError') && group.status !== 'unresolved' && (
        <Button icon="replay" isBusy={unresolve.isPending} onClick={undo}>
          Mark as unresolved
        </Button>
      )}
      <CodeExample
        operation="resolveError"
        input={{ params, body: {} }}
        cli={`errors resolve ${group.id}`}
        sdk={`import { errors } from '@millrace/sdk';\n\nawait errors.resolve('${group.id}');`}
      />
      {more.length > 0 && <Menu trigger={<IconButton icon="more" label="More" />} entries={more} />}
      <IgnoreDialog isOpen={dialog === 'ignore'} onClose={() => setDialog(undefined)} errorId={group.id} />
      <MergeDialog isOpen={dialog === 'merge'} onClose={() => setDialog(undefined)} group={group} />
      <RuleDialog
        isOpen={dialog === 'rule'}
        onClose={() => setDialog(undefined)}
        start={{ task: group.taskIdentifier, type: group.errorType, message: group.errorMessage }}
      />
    </>
  );
}
