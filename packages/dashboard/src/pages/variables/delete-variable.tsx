import { useAct } from '../../api/ask.ts';
import { useEnvironment, useEnvironmentPath } from '../../api/environment.ts';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { outdated } from './revisions.ts';

interface DeleteVariableProps {
  readonly name: string | undefined;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function DeleteVariable({ name, onClose, onDone }: DeleteVariableProps) {
  const params = useEnvironmentPath();
  const { branch } = useEnvironment();
  const remove = useAct('deleteVariable', {
    invalidates: outdated,
    showsErrors: true,
    done: (_, input) => `${input.params.name} deleted`,
    onDone: () => {
      onClose();
      onDone();
    },
  });
  return (
    <Confirm
      isOpen={name !== undefined}
      onClose={() => {
        remove.reset();
        onClose();
      }}
      title={`Delete ${name ?? ''}?`}
      action={`Delete ${name ?? ''}`}
      isBusy={remove.isPending}
      error={remove.error?.message}
      onConfirm={() => name !== undefined && remove.mutate({ params: { ...params, name } })}
    >
      New runs no longer receive it in <code>process.env</code>
      {branch === undefined ? '' : ', or receive the value of the parent'}. The history keeps it: roll back to
      restore it.
    </Confirm>
  );
}
