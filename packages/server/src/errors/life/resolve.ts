import type { ErrorGroupDetail } from '@millrace/contract';
import { userBehind } from '../../auth/principal.ts';
import type { Sql } from '../../db/connect.ts';
import { audited, changing, type ChangeRequest } from './change.ts';
import { detailColumns, detailOf, type DetailRow } from '../list/detail.ts';

export interface Resolve extends ChangeRequest {
  /** Only failures of this version or a later one reopen the group. The version need not be registered yet. */
  readonly version?: string | undefined;
}

/**
 * Resolves a group, regardless of its state; resolving it again restarts from now. It reopens automatically: with a version, when a run of
 * that version or a later one fails; without a version, when a run that started after the resolve fails. Undefined if unknown.
 */
export const resolveErrorGroup = (sql: Sql, request: Resolve): Promise<ErrorGroupDetail | undefined> =>
  changing(sql, request, async (tx, change) => {
    const { version = null } = request;
    const { now, principal } = change;
    const [row] = await tx<DetailRow[]>`
    with ${audited(tx, change, 'resolved')}, changed as (
      update error_groups g set
        status = 'resolved', resolved_at = ${now}, resolved_in_version = ${version}, resolved_by = ${userBehind(principal)},
        ignored_at = null, ignored_until = null, ignored_reason = null, ignored_by = null, ignored_until_rate = null,
        ignored_until_total = null, ignored_from_total = null
      from old where g.env = (old.state).env and g.id = (old.state).id
      returning g.*
    )
    select ${detailColumns(tx, now)} from changed g`;
    return row && detailOf(row);
  });
