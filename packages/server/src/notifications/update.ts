import type { Body, NotificationEndpoint, Operations } from '@millrace/contract';
import type { Sql } from '../db/connect.ts';
import { checkUrl, type Egress } from './check-url.ts';
import { failPending, lockEndpoint } from './disable.ts';
import { endpointNotFound, endpointOf, findEndpoint, type EndpointRow } from './endpoint.ts';
import type { Recorded } from './record.ts';

export interface EndpointChange {
  readonly env: number;
  readonly id: string;
  readonly body: Body<Operations['updateNotificationEndpoint']>;
  readonly now: Date;
}

/** Changes the given fields. Enabling an endpoint again resets its failures. */
export async function updateEndpoint(
  sql: Sql,
  egress: Egress,
  { env, id, body, now }: EndpointChange,
  recorded: Recorded,
): Promise<NotificationEndpoint> {
  const { url, types, description, enabled } = body;
  const old = await findEndpoint(sql, env, id);
  if (url !== undefined) checkUrl(url, egress);
  return sql.begin(async (tx) => {
    if (enabled === false) await lockEndpoint(tx, id);
    const [row] = await tx<EndpointRow[]>`
      update notification_endpoints set
        url = coalesce(${url ?? null}, url),
        types = coalesce(${types ?? null}::text[], types),
        description = case when ${description !== undefined} then ${description ?? null} else description end,
        disabled_at = case ${enabled ?? null}::boolean when true then null when false then coalesce(disabled_at, ${now}) else disabled_at end,
        disabled_by = case ${enabled ?? null}::boolean when true then null when false then coalesce(disabled_by, 'user') else disabled_by end,
        failing_since = case when ${enabled ?? null}::boolean then null else failing_since end
       where env = ${env} and id = ${id} returning *`;
    if (!row) throw endpointNotFound();
    if (row.disabled_at) await failPending(tx, id);
    await recorded(tx, 'updated', row, old);
    return endpointOf(row);
  });
}
