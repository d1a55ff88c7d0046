import type { OperationsOf } from '@millrace/contract';
import type { Sql } from '../db/connect.ts';
import type { HandlersOf } from '../request.ts';
import { listEntries } from './list.ts';

export const auditHandlers = (sql: Sql): HandlersOf<OperationsOf<'audit'>> => ({
  listAuditEntries: ({ params, query }) => listEntries(sql, params.organization, query),
});
