import type { TaskManifest } from '@millrace/contract/runner';
import { callServer, type DeployTarget } from '../../deploy/client.ts';

/** The tasks whose declared schedules do not fire in the branch of a deployment, because that was not requested. */
export async function schedulesOff(
  target: DeployTarget,
  named: string | undefined,
  tasks: readonly TaskManifest[],
): Promise<string[]> {
  const declared = tasks.filter(({ schedule }) => schedule && !schedule.environments);
  if (target.branch === undefined || declared.length === 0) return [];
  const parent = { ...target, branch: undefined };
  const projectRef = named ?? (await callServer(target, 'whoami')).project?.ref ?? '';
  const { branches } = await callServer(parent, 'listBranches', { params: { projectRef } });
  const own = branches.find(({ name, env }) => name === target.branch && env === 'preview');
  return own?.schedules === false ? declared.map(({ id }) => id) : [];
}
