import type { AuditEntry, listAuditEntries, Query } from '@millrace/contract';
import type { Sql } from '../db/connect.ts';
import { onwardPage } from '../page.ts';

type Filters = Query<typeof listAuditEntries>;

interface Row {
  readonly id: string;
  readonly at: Date;
  readonly act: string;
  readonly actor_kind: AuditEntry['actor']['kind'];
  readonly actor_id: string;
  readonly credential_id: string | null;
  readonly target: string;
  readonly project_ref: string | null;
  readonly environment: string | null;
  readonly old: Record<string, unknown> | null;
  readonly new: Record<string, unknown> | null;
  readonly address: string;
  readonly user_agent: string | null;
  readonly request_id: string;
}

/** Newest first. The cursor is the id of the last entry of a page. */
export async function listEntries(sql: Sql, organization: string, query: Filters) {
  const size = query['page[size]'];
  const after = query['page[after]'] ?? null;
  const rows = await sql<Row[]>`
    select id::text, at, act, actor_kind, actor_id, credential_id, target, project_ref, environment, old, new, address, user_agent,
      request_id
    from audit_log
    where organization_id = ${organization}
      and (${after}::bigint is null or id < ${after}::bigint)
      and (${query['filter[act]'] ?? null}::text is null or act = ${query['filter[act]'] ?? null}::text)
      and (${query['filter[actor]'] ?? null}::text is null or actor_id = ${query['filter[actor]'] ?? null}::text)
      and (${query['filter[target]'] ?? null}::text is null or target = ${query['filter[target]'] ?? null}::text)
      and (${query['filter[projectRef]'] ?? null}::text is null or project_ref = ${query['filter[projectRef]'] ?? null}::text)
      and (${query['filter[from]'] ?? null}::timestamptz is null or at >= ${query['filter[from]'] ?? null}::timestamptz)
      and (${query['filter[to]'] ?? null}::timestamptz is null or at < ${query['filter[to]'] ?? null}::timestamptz)
    order by audit_log.id desc limit ${size + 1}`;
  const { page, pagination } = onwardPage(rows, size, ({ id }) => id);
  return { data: page.map(entryOf), pagination };
}

const entryOf = (row: Row): AuditEntry => ({
  id: row.id,
  at: row.at.toISOString(),
  act: row.act,
  actor: { kind: row.actor_kind, id: row.actor_id, credentialId: row.credential_id ?? undefined },
  target: row.target,
  projectRef: row.project_ref ?? undefined,
  environment: row.environment ?? undefined,
  old: row.old ?? undefined,
  new: row.new ?? undefined,
  from: { address: row.address, userAgent: row.user_agent ?? undefined },
  requestId: row.request_id,
});
