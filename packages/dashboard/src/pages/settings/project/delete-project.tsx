import { useNavigate } from '@tanstack/react-router';
import { queryClient, useAct, useAsk } from '../../../api/ask.ts';
import { sessionQuery, useSession } from '../../../api/session.ts';
import { Confirm } from '../../../parts/dialog/confirm.tsx';

interface DeleteProjectProps {
  readonly projectRef: string;
  readonly name: string;
  readonly onClose: () => void;
}

/** Permanently deletes a project. Its name must be typed first. */
export function DeleteProject({ projectRef, name, onClose }: DeleteProjectProps) {
  const navigate = useNavigate();
  const { projects } = useSession();
  const environments = useAsk('listEnvironments', { params: { projectRef } }, { inEnvironment: false });
  const remove = useAct('deleteProject', {
    inEnvironment: false,
    showsErrors: true,
    invalidates: [],
    done: `Project ${name} deleted`,
    onDone: () => {
      void (async () => {
        await queryClient.invalidateQueries(sessionQuery);
        await navigate({ to: '/' });
      })();
    },
  });
  const branches = environments.data?.filter(({ branchName }) => branchName !== null).length ?? 0;
  const isOnly = projects.length === 1;
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={`Delete the project ${name}?`}
      action={`Delete ${name}`}
      typed={name}
      isDisabled={isOnly}
      isBusy={remove.isPending}
      error={remove.error?.message}
      onConfirm={() => remove.mutate({ params: { projectRef }, query: { confirm: projectRef } })}
    >
      {isOnly
        ? 'This is the last project, which cannot be deleted. Create another one first: npx millrace projects create.'
        : `Its four environments${branches > 0 ? ` and ${branches === 1 ? 'a branch' : `${branches.toLocaleString('en')} branches`}` : ''} end immediately: keys and tokens are rejected, runners get no more work, and executing attempts are lost. Runs, logs, errors, schedules, variables and versions are deleted from the database within minutes. This cannot be undone.`}
    </Confirm>
  );
}
