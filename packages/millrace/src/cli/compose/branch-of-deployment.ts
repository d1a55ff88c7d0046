import { callServer, type DeployTarget } from '../../deploy/client.ts';
import type { Prepared } from '../../deploy/prepare.ts';

/** The project of the key. */
export const refOf = async (target: DeployTarget): Promise<string | undefined> =>
  (await callServer({ ...target, branch: undefined }, 'whoami')).project?.ref;

/** Makes the branch, unless it is there or none is meant. */
export async function makeBranch(
  target: DeployTarget,
  named: string | null,
  schedules: boolean | undefined,
): Promise<{ readonly projectRef: string; readonly schedules: boolean } | undefined> {
  const { branch } = target;
  if (branch === undefined) return undefined;
  const projectRef = named ?? (await refOf(target)) ?? '';
  const made = await callServer({ ...target, branch: undefined }, 'createBranch', {
    params: { projectRef },
    body: { branch, env: 'preview', schedules },
  });
  return { projectRef, schedules: made.schedules };
}

/** The tasks whose schedules fire in a branch of preview only if that is asked for. */
export const declaredSchedules = ({ tasks }: Prepared): string[] =>
  tasks.flatMap(({ id, schedule }) => (schedule && !schedule.environments ? [id] : []));
