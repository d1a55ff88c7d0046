import { useAct } from '../../../api/ask.ts';
import type { OperationName } from '../../../api/operation-types.ts';
import { Confirm } from '../../../parts/dialog/confirm.tsx';

interface PauseEnvironmentProps {
  readonly params: { readonly projectRef: string; readonly env: string };
  readonly name: string;
  readonly invalidates: readonly OperationName[];
  readonly onClose: () => void;
}

export function PauseEnvironment({ params, name, invalidates, onClose }: PauseEnvironmentProps) {
  const pause = useAct('pauseEnvironment', {
    inEnvironment: false,
    showsErrors: true,
    invalidates,
    done: `${name} paused: no run starts`,
    onDone: onClose,
  });
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={`Pause ${name}?`}
      action={`Pause ${name}`}
      isBusy={pause.isPending}
      error={pause.error?.message}
      onConfirm={() => pause.mutate({ params })}
    >
      No run of {name} starts until it is resumed. Executing runs continue. Triggers are accepted and
      schedules fire, but their runs wait.
    </Confirm>
  );
}
