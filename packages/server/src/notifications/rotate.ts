import type { NotificationEndpoint } from '@millrace/contract';
import { seal, type MasterKey } from '../auth/seal.ts';
import type { Sql } from '../db/connect.ts';
import { unprocessable } from '../problem.ts';
import { endpointOf, endpointSecretContext, findEndpoint, type EndpointRow } from './endpoint.ts';
import type { Recorded } from './record.ts';
import { newSecret } from './sign.ts';

const overlapMs = 24 * 3_600_000;

/** Creates a new secret, returned only this once. For a day, notifications are signed with the old secret too. */
export async function rotateSecret(
  sql: Sql,
  masterKey: MasterKey,
  { env, id, now }: { readonly env: number; readonly id: string; readonly now: Date },
  recorded: Recorded,
): Promise<NotificationEndpoint & { secret: string }> {
  const secret = newSecret();
  return sql.begin(async (tx) => {
    const [row] = await tx<EndpointRow[]>`
    update notification_endpoints set
      sealed = ${seal(masterKey, secret, endpointSecretContext(id))}, sealed_before = sealed,
      sealed_before_until = ${new Date(now.getTime() + overlapMs)}
     where env = ${env} and id = ${id} and kind = 'webhook' returning *`;
    if (!row) {
      const { kind } = await findEndpoint(tx, env, id);
      throw unprocessable(
        `Requests to a ${kind} endpoint are not signed: update its ${kind === 'slack' ? 'url' : 'smtp.password'} instead.`,
      );
    }
    await recorded(tx, 'secretRotated', row);
    return { ...endpointOf(row), secret };
  });
}
