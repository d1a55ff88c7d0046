import type { operations } from '@millrace/contract';
import type { Sql } from '../db/connect.ts';
import type { HandlersOf } from '../request.ts';
import { listEntries } from './list.ts';

export const auditHandlers = (sql: Sql): HandlersOf<Pick<typeof operations, 'listAuditEntries'>> => ({
  listAuditEntries: ({ params, query }) => listEntries(sql, params.organization, query),
});
