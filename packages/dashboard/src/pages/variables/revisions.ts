import type { VariableRevision } from '@millrace/contract';
import { useMemo } from 'react';
import { useAsk } from '../../api/ask.ts';
import { useEnvironmentPath } from '../../api/environment.ts';

/** The operations whose responses a change of variables invalidates. */
export const outdated = ['listVariables', 'listVariableRevisions', 'compareVariableRevisions'] as const;

/** The newest changes, latest first. */
export function useRevisions() {
  const params = useEnvironmentPath();
  return useAsk('listVariableRevisions', { params, query: { 'page[size]': 100 } }, { live: 15_000 });
}

export interface LastChange {
  readonly at: string;
  readonly userId: string | undefined;
}

/** When each variable was last changed, as far back as the newest changes go. */
export const useLastChanges = (
  revisions: readonly VariableRevision[] = [],
): ReadonlyMap<string, LastChange> =>
  useMemo(
    () =>
      new Map(
        revisions
          .toReversed()
          .flatMap(({ at, userId, changes }) => changes.map(({ name }) => [name, { at, userId }] as const)),
      ),
    [revisions],
  );

const acts: Readonly<Record<VariableRevision['act'], string>> = {
  set: 'Set',
  import: 'Imported',
  delete: 'Deleted',
  rollback: 'Rolled back',
};

/** @example actText(revision) // 'Rolled back to 7' */
export const actText = ({ act, restored }: VariableRevision): string =>
  act === 'rollback' && restored !== undefined ? `Rolled back to ${restored}` : acts[act];
