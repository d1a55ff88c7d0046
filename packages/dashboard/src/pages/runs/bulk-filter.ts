import { runFilterParams, type RunFilterQuery } from '@millrace/contract/filter';
import type { InputOf } from '../../api/operation-types.ts';

type BulkFilter = NonNullable<InputOf<'createBulkAction'>['body']['filter']>;

/** The filter of a bulk action that matches the same runs as a list. */
export function bulkFilterOf(query: RunFilterQuery): BulkFilter {
  const filter = runFilterParams(query);
  // Without any filter, the list has the runs of seven days.
  return Object.keys(filter).length > 0 ? filter : { period: '7d' };
}
