import { useState } from 'react';
import { useAct } from '../../api/ask.ts';
import { useMay } from '../../api/session.ts';
import { toast } from '../../api/toasts.ts';
import { Button } from '../../parts/button.tsx';
import { CodeExample } from '../../parts/code/code-tabs.tsx';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { useShortcuts } from '../../parts/keyboard.ts';
import { useGoTo } from '../../parts/page-link.tsx';
import { countText } from '../../parts/count-text.ts';
import { ReplayDialog } from './replay-dialog.tsx';
import type { RunDetail } from './use-run.ts';

/** Cancel, replay, and the code example. */
export function RunActions({ run }: { readonly run: RunDetail }) {
  const [dialog, setDialog] = useState<'cancel' | 'replay'>();
  const may = useMay();
  const goTo = useGoTo();
  const cancel = useAct('cancelRun', {
    done: 'Run canceled',
    showsErrors: true,
    onDone: () => setDialog(undefined),
  });
  const canCancel = !run.isCompleted && may('cancelRun');
  const canReplay = may('replayRun');
  useShortcuts([
    ...(canCancel ? [{ keys: 'c', label: 'Cancel the run', run: () => setDialog('cancel') }] : []),
    ...(canReplay ? [{ keys: 'r', label: 'Replay the run', run: () => setDialog('replay') }] : []),
  ]);
  const below = run.relatedRuns.children?.filter(({ isCompleted }) => !isCompleted).length ?? 0;
  const what =
    below === 0 ? 'this run' : `this run and ${countText(below === 100 ? '100+' : below, 'run')} below it`;
  return (
    <>
      {canCancel && (
        <Button icon="cancel" variant="danger" shortcut="c" onClick={() => setDialog('cancel')}>
          Cancel run
        </Button>
      )}
      {canReplay && (
        <Button icon="replay" shortcut="r" onClick={() => setDialog('replay')}>
          Replay
        </Button>
      )}
      <CodeExample
        operation="retrieveRun"
        input={{ params: { runId: run.id } }}
        cli={`runs show ${run.id} --timeline`}
        sdk={`import { runs } from '@millrace/sdk';\n\nconst run = await runs.retrieve('${run.id}');`}
      />
      <Confirm
        isOpen={dialog === 'cancel'}
        onClose={() => setDialog(undefined)}
        title={`Cancel ${what}?`}
        action={
          below === 0 ? 'Cancel 1 run' : `Cancel ${countText(below === 100 ? '101+' : below + 1, 'run')}`
        }
        isBusy={cancel.isPending}
        error={cancel.error?.message}
        onConfirm={() => cancel.mutate({ params: { runId: run.id } })}
      >
        Stops its code, and cancels every unfinished run that it triggered. This cannot be undone; a replay
        runs it again.
      </Confirm>
      <ReplayDialog
        run={run}
        isOpen={dialog === 'replay'}
        onClose={() => setDialog(undefined)}
        onStarted={(id) => {
          setDialog(undefined);
          toast({ title: 'Replay started', description: id });
          goTo(`/runs/${id}`);
        }}
      />
    </>
  );
}
