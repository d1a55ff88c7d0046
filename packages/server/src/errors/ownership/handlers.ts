import type { OperationsOf } from '@millrace/contract';
import type { Sql } from '../../db/connect.ts';
import type { HandlersOf } from '../../request.ts';
import { found } from '../list/redact.ts';
import { assignErrorGroup } from './assign.ts';
import { linkErrorGroup } from './link.ts';
import { noteErrorGroup } from './note.ts';

export const ownershipHandlers = (sql: Sql, now: () => Date): HandlersOf<OperationsOf<'errorsAssign'>> => ({
  async assignError({ environment, principal, params: { errorId }, body }) {
    const change = { env: environment.id, id: errorId, now, principal };
    return found(principal, await assignErrorGroup(sql, { ...change, assignee: body.assignee }));
  },

  async noteError({ environment, principal, params: { errorId }, body }) {
    const change = { env: environment.id, id: errorId, now, principal };
    return found(principal, await noteErrorGroup(sql, { ...change, note: body.note }));
  },

  async linkError({ environment, principal, params: { errorId }, body }) {
    const change = { env: environment.id, id: errorId, now, principal };
    return found(principal, await linkErrorGroup(sql, { ...change, ticketUrl: body.ticketUrl }));
  },
});
