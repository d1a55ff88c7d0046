import { runFilterParams, type RunFilterQuery } from '@millrace/contract/filter';
import type { Given } from '../../api/operation-types.ts';

type BulkFilter = NonNullable<Given<'createBulkAction'>['body']['filter']>;

/**
 * The filter of a bulk action that finds the same runs as a list does. Undefined if there is none: a bulk action cannot search for words of an error,
 * nor for values of metadata and payloads.
 */
export function bulkFilterOf(query: RunFilterQuery): BulkFilter | undefined {
  const { errorText, metadata, payload, ...filter } = runFilterParams(query);
  if (errorText !== undefined || metadata || payload) return undefined;
  // Without any of them, the list has the runs of seven days.
  return Object.keys(filter).length > 0 ? filter : { period: '7d' };
}
