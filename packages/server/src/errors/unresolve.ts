import type { ErrorGroupDetail } from '@millrace/contract';
import type { Queryable } from '../db/connect.ts';
import { audited, type Change } from './change.ts';
import { detailColumns, detailOf, type DetailRow } from './detail.ts';
import { isErrorId } from './retrieve.ts';

/** Takes back a resolve or an ignore; all their fields are cleared. Undefined if the group is unknown. */
export async function unresolveErrorGroup(
  sql: Queryable,
  change: Change,
): Promise<ErrorGroupDetail | undefined> {
  if (!isErrorId(change.id)) return undefined;
  const [row] = await sql<DetailRow[]>`
    with ${audited(sql, change, 'unresolved')}, changed as (
      update error_groups g set
        status = 'unresolved', resolved_at = null, resolved_in_version = null, resolved_by = null,
        ignored_at = null, ignored_until = null, ignored_reason = null, ignored_by = null, ignored_until_rate = null,
        ignored_until_total = null, ignored_from_total = null
      from old where g.env = (old.state).env and g.id = (old.state).id
      returning g.*
    )
    select ${detailColumns(sql, change.now)} from changed g`;
  return row && detailOf(row);
}
