import type { ErrorChange, Operations, OwnershipChange, Query, Reply } from '@millrace/contract';
import type { Sql } from '../../db/connect.ts';
import { onwardPage } from '../../page.ts';
import { isErrorId } from '../list/retrieve.ts';
import { tally } from '../record/tally.ts';
import { currentId } from './change.ts';

interface Row {
  readonly id: string;
  readonly at: Date;
  readonly act: ErrorChange['act'];
  readonly user_id: string | null;
  readonly credential_id: string | null;
  readonly before: Readonly<Record<string, string>> & { readonly status: ErrorChange['before']['status'] };
  readonly after: OwnershipChange | null;
}

/**
 * A page of a group's history, newest first. If the group was merged into another one, the history is that of the other group. Undefined if
 * the group does not exist.
 */
export async function listHistory(
  sql: Sql,
  env: number,
  errorId: string,
  query: Query<Operations['listErrorHistory']>,
): Promise<Reply<Operations['listErrorHistory']> | undefined> {
  if (!isErrorId(errorId)) return undefined;
  // The error may have just occurred again.
  await tally(sql, env);
  const group = await currentId(sql, env, errorId);
  if (group === undefined) return undefined;
  const size = query['page[size]'];
  const rows = await sql<Row[]>`
    select id, at, act, user_id, credential_id, before, after from error_audit
     where env = ${env} and group_id = ${group} and id < ${query['page[after]'] ?? '9223372036854775807'}::bigint
     order by id desc limit ${size + 1}`;
  const { page, pagination } = onwardPage(rows, size, ({ id }) => id);
  return { data: page.map(changeOf), pagination };
}

function changeOf({ id, at, act, user_id, credential_id, before, after }: Row): ErrorChange {
  const moment = (name: string) =>
    before[name] === undefined ? {} : { [name]: new Date(before[name]).toISOString() };
  const text = (name: string) => (before[name] === undefined ? {} : { [name]: before[name] });
  return {
    id,
    at: at.toISOString(),
    act,
    ...(user_id !== null && { userId: user_id }),
    ...(credential_id !== null && { credentialId: credential_id }),
    before: {
      status: before.status,
      ...moment('resolvedAt'),
      ...text('resolvedInVersion'),
      ...text('resolvedBy'),
      ...moment('ignoredAt'),
      ...moment('ignoredUntil'),
      ...text('ignoredReason'),
      ...text('owner'),
      ...text('ownerUserId'),
      ...text('note'),
      ...text('ticketUrl'),
    },
    ...(after && { after }),
  };
}
