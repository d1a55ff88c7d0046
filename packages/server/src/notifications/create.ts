import type { Body, NotificationEndpoint, Operations } from '@millrace/contract';
import { seal, type MasterKey } from '../auth/seal.ts';
import { newId } from '../db/ids.ts';
import type { Sql } from '../db/connect.ts';
import { unprocessable } from '../problem.ts';
import { checkUrl, type Egress } from './check-url.ts';
import { endpointOf, endpointSecretContext, type EndpointRow } from './endpoint.ts';
import type { Recorded } from './record.ts';
import { newSecret } from './sign.ts';

export const maxEndpoints = 50;

export interface NewEndpoint {
  readonly env: number;
  readonly body: Body<Operations['createNotificationEndpoint']>;
  readonly now: Date;
}

/** Creates an endpoint. Its secret is returned only this once. */
export async function createEndpoint(
  sql: Sql,
  masterKey: MasterKey,
  egress: Egress,
  { env, body: { url, types, description }, now }: NewEndpoint,
  recorded: Recorded,
): Promise<NotificationEndpoint & { secret: string }> {
  checkUrl(url, egress);
  const id = newId('endpoint');
  const secret = newSecret();
  return sql.begin(async (tx) => {
    const [row] = await tx<EndpointRow[]>`
    insert into notification_endpoints (id, env, url, description, types, sealed, created_at)
    select ${id}, ${env}, ${url}, ${description ?? null}, ${types}::text[], ${seal(masterKey, secret, endpointSecretContext(id))}, ${now}
     where (select count(*) from notification_endpoints where env = ${env}) < ${maxEndpoints}
    returning *`;
    if (!row) throw unprocessable(`An environment has at most ${maxEndpoints} endpoints: delete one first.`);
    await recorded(tx, 'created', row);
    return { ...endpointOf(row), secret };
  });
}
