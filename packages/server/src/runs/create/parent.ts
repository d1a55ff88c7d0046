import type { RunStatus } from '@millrace/contract';
import type { Queryable } from '../../db/connect.ts';
import { Problem, unprocessable } from '../../problem.ts';

/** The reason that the parent prevents a run from being created. */
export type ParentRefusal = 'unknown' | 'canceled' | 'stale' | 'ancestor';

/** A triggering run, and the position of its children in the tree. */
export interface Parent {
  readonly id: string;
  readonly root: string;
  /** The depth of its children. */
  readonly depth: number;
  readonly status: RunStatus | null;
}

/**
 * Looks up a triggering run, and locks it until the end of the caller's transaction: until then it cannot be canceled, and with a fence its
 * attempt cannot be taken over. Throws a Problem if it may have no children: 422, or 409 if the attempt has ended.
 */
export async function holdParent(
  sql: Queryable,
  env: number,
  id: string,
  fence: number | undefined,
): Promise<Parent> {
  const [row] = await sql<(Parent & { refused: ParentRefusal | null })[]>`
    select run_id as id, root, depth + 1 as depth, status, refused
      from lock_parents(${[env]}::int[], ${[id]}::text[], ${fence === undefined ? null : [fence]}::bigint[])`;
  if (!row) throw new TypeError('lock_parents returned no row');
  if (row.refused !== null) throw refusedParent(row.refused, id, 'parentRunId');
  return row;
}

export function refusedParent(refused: string, run: string, field = 'options.parentRunId'): Problem {
  switch (refused as ParentRefusal) {
    case 'unknown':
      return unprocessable(`${field}: the run "${run}" does not exist in this environment.`, 'run_not_found');
    case 'canceled':
      // The child would outlive its tree.
      return unprocessable(
        `${field}: the run "${run}" has been canceled; its triggers are rejected.`,
        'run_canceled',
      );
    case 'stale':
      return new Problem(
        'attempt_ended',
        `This attempt of the run "${run}" has ended; its triggers are rejected.`,
      );
    case 'ancestor':
      return new Problem(
        'parent_would_wait_for_itself',
        `options.singleton: the run "${run}" would wait for itself, because it or one of its ancestors has this key. Trigger without waiting, or use another key.`,
      );
  }
}
