import type { ErrorGroupDetail } from '@millrace/contract';
import type { Sql } from '../../db/connect.ts';
import { changing, type ChangeRequest } from '../life/change.ts';
import { changeAssignment } from './change.ts';

/** Links a group to a ticket, or removes the link. Undefined if the group is unknown. */
export const linkErrorGroup = (
  sql: Sql,
  request: ChangeRequest & { readonly ticketUrl: string | null },
): Promise<ErrorGroupDetail | undefined> =>
  changing(sql, request, (tx, change) =>
    changeAssignment(tx, change, 'linked', { ticket_url: request.ticketUrl }),
  );
