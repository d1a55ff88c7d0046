import type { EnvironmentKind } from '@millrace/contract';
import type { SyncedVariables } from '@millrace/compat';
import { callServer, type DeployTarget } from './client.ts';

/** Sets a deployment's variables in its environment. Each API call sets all of its variables or none. */
export async function setVariables(
  target: DeployTarget,
  { projectRef, env }: { readonly projectRef: string; readonly env: EnvironmentKind },
  synced: readonly SyncedVariables[],
): Promise<void> {
  for (const { values, parentValues, isSecret, override } of synced) {
    const params = { projectRef, env };
    const known = override
      ? []
      : (await callServer(target, 'listVariables', { params })).map(({ name }) => name);
    const variables = Object.fromEntries(Object.entries(values).filter(([name]) => !known.includes(name)));
    const isBranch = target.branch !== undefined && Object.keys(parentValues).length > 0;
    if (!isBranch && Object.keys(variables).length === 0) continue;
    const body = { variables, override: true, ...(isBranch && { parentVariables: parentValues }) };
    await callServer(target, 'importVariables', { params, body: { ...body, ...(isSecret && { isSecret }) } });
  }
}
