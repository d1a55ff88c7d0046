import type { Body, NotificationEndpoint, Operations } from '@millrace/contract';
import { seal, type MasterKey } from '../auth/seal.ts';
import { newId } from '../db/ids.ts';
import type { Sql } from '../db/connect.ts';
import { unprocessable } from '../problem.ts';
import type { Egress } from './check-url.ts';
import { destinationOf } from './destination.ts';
import { endpointOf, endpointSecretContext, type EndpointRow } from './endpoint.ts';
import type { Recorded } from './record.ts';

export const maxEndpoints = 50;

export interface NewEndpoint {
  readonly env: number;
  readonly body: Body<Operations['createNotificationEndpoint']>;
  readonly now: Date;
}

/** Creates an endpoint. A webhook's secret is returned only this once. */
export async function createEndpoint(
  sql: Sql,
  masterKey: MasterKey,
  egress: Egress,
  { env, body, now }: NewEndpoint,
  recorded: Recorded,
): Promise<NotificationEndpoint & { secret?: string }> {
  const { types, description } = body;
  const { kind, url, mail, secret } = destinationOf(body, egress);
  const id = newId('endpoint');
  return sql.begin(async (tx) => {
    const [row] = await tx<EndpointRow[]>`
    insert into notification_endpoints (id, env, kind, url, mail, description, types, sealed, created_at)
    select ${id}, ${env}, ${kind}, ${url}, ${mail && JSON.stringify(mail)}::text::jsonb, ${description ?? null}, ${types}::text[],
           ${seal(masterKey, secret, endpointSecretContext(id))}, ${now}
     where (select count(*) from notification_endpoints where env = ${env}) < ${maxEndpoints}
    returning *`;
    if (!row)
      throw unprocessable(
        `An environment has at most ${maxEndpoints} endpoints: delete one first.`,
        'limit_reached',
      );
    await recorded(tx, 'created', row);
    return { ...endpointOf(row), ...(kind === 'webhook' && { secret }) };
  });
}
