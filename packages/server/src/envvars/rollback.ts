import { changeVariables, type ChangeDependencies, type Changed, type DesiredVariable } from './change.ts';
import { stateAt } from './history.ts';
import type { Caller } from './set.ts';

/** Restores an environment's own variables to a revision, as a new revision. */
export const rollBack = (
  dependencies: ChangeDependencies,
  caller: Caller,
  revision: number,
): Promise<Changed> =>
  changeVariables(
    dependencies,
    { ...caller, act: 'rollback', restored: revision },
    async (own, { tx, ...known }) => {
      const then = await stateAt(tx, caller.environment.id, revision, known);
      const restored = [...then].map(([name, state]): DesiredVariable => ({ name, ...state }));
      const removed = [...own.keys()]
        .filter((name) => !then.has(name))
        .map((name): DesiredVariable => ({ name, removed: true }));
      return [...restored, ...removed];
    },
  );
