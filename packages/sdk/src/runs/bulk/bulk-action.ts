import type { BulkAction as WireAction } from '@millrace/contract';
import type { ListRunsParams } from '../list.ts';
import type { RunReference } from '../run.ts';

/** A bulk action: the number of its runs, and its results so far. */
export type BulkAction = Omit<WireAction, 'createdAt' | 'completedAt'> & {
  createdAt: Date;
  /** When it was completed or stopped. */
  completedAt?: Date;
};

/** The filters of `runs.list`, at least one. Without a time range, covers the last seven days. */
export type BulkRunsFilter = Omit<ListRunsParams, 'limit' | 'after' | 'before'>;

/** The runs of a bulk action: a filter, or up to 500 runs. */
export type BulkRuns =
  | { filter: BulkRunsFilter; runs?: undefined; name?: string }
  | {
      runs: RunReference[];
      filter?: undefined;
      /** A name for display; at most 255 characters. */
      name?: string;
    };

/** A bulk action by its id (`bulk_…`) or as returned. */
export type BulkReference = string | { readonly id: string };

/** Validates input from untyped callers. */
export function bulkId(action: BulkReference): string {
  const id: unknown = typeof action === 'string' ? action : (action as { id?: unknown } | undefined)?.id;
  if (typeof id === 'string' && id !== '') return id;
  throw new TypeError('Pass the id of the bulk action (bulk_…) or the return value of runs.bulk.');
}

export const fromWire = ({ createdAt, completedAt, ...same }: WireAction): BulkAction => ({
  ...same,
  createdAt: new Date(createdAt),
  ...(completedAt !== undefined && { completedAt: new Date(completedAt) }),
});
