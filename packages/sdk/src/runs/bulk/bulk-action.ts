import type { BulkAction as WireAction } from '@millrace/contract';
import type { ListRunsParams } from '../list.ts';
import type { RunReference } from '../run.ts';

/** A bulk action: how many runs it is about, and what became of them so far. */
export type BulkAction = Omit<WireAction, 'createdAt' | 'completedAt'> & {
  createdAt: Date;
  /** When it was done, or stopped. */
  completedAt?: Date;
};

/** Which runs: the filters of `runs.list`, at least one. Without a range of time, of the last seven days. */
export type BulkRunsFilter = Omit<ListRunsParams, 'limit' | 'after' | 'before'>;

/** Which runs a bulk action is about: a filter, or up to 500 runs. */
export type BulkRuns =
  | { filter: BulkRunsFilter; runs?: undefined; name?: string }
  | {
      runs: RunReference[];
      filter?: undefined;
      /** For people who look at it later; at most 255 characters. */
      name?: string;
    };

/** A bulk action by its id (`bulk_…`) or as it was returned. */
export type BulkReference = string | { readonly id: string };

/** Checks what a caller without types may hand over. */
export function bulkId(action: BulkReference): string {
  const id: unknown = typeof action === 'string' ? action : (action as { id?: unknown } | undefined)?.id;
  if (typeof id === 'string' && id !== '') return id;
  throw new TypeError('A bulk action is named by its id (bulk_…) or by what runs.bulk returned.');
}

export const fromWire = ({ createdAt, completedAt, ...same }: WireAction): BulkAction => ({
  ...same,
  createdAt: new Date(createdAt),
  ...(completedAt !== undefined && { completedAt: new Date(completedAt) }),
});
