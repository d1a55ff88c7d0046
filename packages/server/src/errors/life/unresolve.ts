import type { ErrorGroupDetail } from '@millrace/contract';
import type { Sql } from '../../db/connect.ts';
import { audited, changing, type ChangeRequest } from './change.ts';
import { detailColumns, detailOf, type DetailRow } from '../list/detail.ts';

/** Undoes a resolve or an ignore and clears their fields. Undefined if the group is unknown. */
export const unresolveErrorGroup = (
  sql: Sql,
  request: ChangeRequest,
): Promise<ErrorGroupDetail | undefined> =>
  changing(sql, request, async (tx, change) => {
    const [row] = await tx<DetailRow[]>`
    with ${audited(tx, change, 'unresolved')}, changed as (
      update error_groups g set
        status = 'unresolved', resolved_at = null, resolved_in_version = null, resolved_by = null,
        ignored_at = null, ignored_until = null, ignored_reason = null, ignored_by = null, ignored_until_rate = null,
        ignored_until_total = null, ignored_from_total = null
      from old where g.env = (old.state).env and g.id = (old.state).id
      returning g.*
    )
    select ${detailColumns(tx, change.now)} from changed g`;
    return row && detailOf(row);
  });
