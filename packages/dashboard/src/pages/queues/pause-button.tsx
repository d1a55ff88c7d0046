import type { Queue } from '@millrace/contract';
import { useAct } from '../../api/ask.ts';
import { toast } from '../../api/toasts.ts';
import { useMay } from '../../api/session.ts';
import { Button, IconButton } from '../../parts/button.tsx';
import { visibleControls } from '../../parts/json/visible-controls.ts';

/** The operations to refresh after a queue was changed. */
export const outdated = ['listQueues', 'retrieveQueue', 'retrieveConcurrency', 'retrieveRunReason'] as const;

/** Pauses a queue or resumes it. It can be undone, so there is no confirmation. */
export function usePause(queue: Queue): { readonly toggle: () => void; readonly isPending: boolean } {
  const act = useAct('pauseQueue', {
    invalidates: outdated,
    onDone: ({ id, paused, queued }) =>
      toast({
        title: `Queue ${visibleControls(queue.name)} ${paused ? 'paused' : 'resumed'}`,
        ...(paused && { description: `Executing runs continue. ${queued.toLocaleString('en')} wait.` }),
        undo: () =>
          act.mutate({ params: { queue: id }, body: { type: 'id', action: paused ? 'resume' : 'pause' } }),
      }),
  });
  return {
    isPending: act.isPending,
    toggle: () =>
      act.mutate({
        params: { queue: queue.id },
        body: { type: 'id', action: queue.paused ? 'resume' : 'pause' },
      }),
  };
}

export function PauseButton({ queue }: { readonly queue: Queue }) {
  const { toggle, isPending } = usePause(queue);
  return (
    <Button
      icon={queue.paused ? 'play' : 'pause'}
      isBusy={isPending}
      onClick={toggle}
      shortcut="p"
      {...(queue.paused && { variant: 'main' as const })}
    >
      {queue.paused ? 'Resume the queue' : 'Pause the queue'}
    </Button>
  );
}

/** The same in a row of the list. */
export function PauseIcon({ queue }: { readonly queue: Queue }) {
  const { toggle, isPending } = usePause(queue);
  const may = useMay();
  if (!may('pauseQueue')) return null;
  return (
    <IconButton
      icon={queue.paused ? 'play' : 'pause'}
      label={`${queue.paused ? 'Resume' : 'Pause'} ${visibleControls(queue.name)}`}
      disabled={isPending}
      onClick={toggle}
    />
  );
}
