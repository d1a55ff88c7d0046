import type { Body, ErrorGroupDetail, Operations } from '@millrace/contract';
import { userBehind } from '../../auth/principal.ts';
import type { Sql } from '../../db/connect.ts';
import { audited, changing, type ChangeRequest } from './change.ts';
import { detailColumns, detailOf, type DetailRow } from '../list/detail.ts';

export interface Ignore extends ChangeRequest {
  readonly limits: Body<Operations['ignoreError']>;
}

/**
 * Ignores a group until the first of its limits: a time, a number of further occurrences, or a rate of occurrences per minute. Without limits,
 * forever. Undefined if unknown.
 */
export const ignoreErrorGroup = (sql: Sql, request: Ignore): Promise<ErrorGroupDetail | undefined> =>
  changing(sql, request, async (tx, change) => {
    const { limits } = request;
    const { now, principal } = change;
    const until = limits.duration === undefined ? null : new Date(now.getTime() + limits.duration);
    const [row] = await tx<DetailRow[]>`
    with ${audited(tx, change, 'ignored')}, changed as (
      update error_groups g set
        status = 'ignored', ignored_at = ${now}, ignored_until = ${until}, ignored_reason = ${limits.reason ?? null},
        ignored_by = ${userBehind(principal)}, ignored_until_rate = ${limits.occurrenceRate ?? null},
        ignored_until_total = ${limits.totalOccurrences ?? null}, ignored_from_total = g.total,
        resolved_at = null, resolved_in_version = null, resolved_by = null
      from old where g.env = (old.state).env and g.id = (old.state).id
      returning g.*
    )
    select ${detailColumns(tx, now)} from changed g`;
    return row && detailOf(row);
  });
