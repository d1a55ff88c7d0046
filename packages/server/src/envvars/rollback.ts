import { changeVariables, type ChangeDependencies, type Changed, type Wish } from './change.ts';
import { stateAt } from './history.ts';
import type { Caller } from './set.ts';

/** Makes an environment's own variables what they were at a revision. It is a change like any other, and a new revision. */
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
      const restored = [...then].map(([name, state]): Wish => ({ name, ...state }));
      const gone = [...own.keys()]
        .filter((name) => !then.has(name))
        .map((name): Wish => ({ name, gone: true }));
      return [...restored, ...gone];
    },
  );
