import type { ErrorGroupDetail } from '@millrace/contract';
import type { Sql } from '../../db/connect.ts';
import { changing, type ChangeRequest } from '../life/change.ts';
import { changeAssignment } from './change.ts';

/** Sets or removes the note of a group. Undefined if the group is unknown. */
export const noteErrorGroup = (
  sql: Sql,
  request: ChangeRequest & { readonly note: string | null },
): Promise<ErrorGroupDetail | undefined> =>
  changing(sql, request, (tx, change) => changeAssignment(tx, change, 'noted', { note: request.note }));
