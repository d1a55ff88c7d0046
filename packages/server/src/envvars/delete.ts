import { badRequest, notFound } from '../problem.ts';
import { changeVariables, type ChangeDependencies } from './change.ts';
import type { Caller } from './set.ts';

/** Deletes an environment's own value. A branch then inherits its parent's value, which cannot be deleted from the branch. */
export async function deleteVariable(
  dependencies: ChangeDependencies,
  caller: Caller,
  name: string,
): Promise<void> {
  await changeVariables(
    dependencies,
    { ...caller, act: 'delete', names: [name] },
    async (own, { tx, root }) => {
      if (own.has(name)) return [{ name, removed: true }];
      const [inherited] = await tx`select from variables where env = ${root} and name = ${name}`;
      if (!inherited) throw notFound('Environment variable not found');
      throw badRequest(
        'Environment variable value not found: the branch inherits the value, and only its parent can delete it',
      );
    },
  );
}
