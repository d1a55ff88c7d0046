import type { Body, NotificationEndpoint, Operations } from '@millrace/contract';
import { messageTypes } from '@millrace/contract';
import { seal, type MasterKey } from '../auth/seal.ts';
import type { Sql } from '../db/connect.ts';
import { unprocessable } from '../problem.ts';
import { checkUrl, type Egress } from './check-url.ts';
import { mailDestination } from './destination.ts';
import { failPending, lockEndpoint } from './disable.ts';
import {
  endpointNotFound,
  endpointOf,
  endpointSecretContext,
  findEndpoint,
  type EndpointRow,
} from './endpoint.ts';
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
  masterKey: MasterKey,
  egress: Egress,
  { env, id, body, now }: EndpointChange,
  recorded: Recorded,
): Promise<NotificationEndpoint> {
  const { types, description, enabled } = body;
  const found = await findEndpoint(sql, env, id);
  checkFields(found, body);
  return sql.begin(async (tx) => {
    // Locked before it is read, because the new mail settings are derived from the old ones.
    await lockEndpoint(tx, id);
    const old = await findEndpoint(tx, env, id);
    const { url, mail, secret } = changedDestination(old, body, egress);
    const [row] = await tx<EndpointRow[]>`
      update notification_endpoints set
        url = coalesce(${url ?? null}, url),
        mail = coalesce(${mail ? JSON.stringify(mail) : null}::text::jsonb, mail),
        sealed = coalesce(${secret === undefined ? null : seal(masterKey, secret, endpointSecretContext(id))}::bytea, sealed),
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

/** 422 for a field that an endpoint of this kind does not have. */
function checkFields({ kind }: EndpointRow, { url, smtp, from, to, types }: EndpointChange['body']): void {
  const wrong = kind === 'email' ? { url } : { smtp, from, to };
  const name = Object.entries(wrong).find(([, value]) => value !== undefined)?.[0];
  if (name !== undefined) throw unprocessable(`${name}: not allowed for an endpoint of the kind ${kind}.`);
  const unsupported = types?.find((type) => !(messageTypes as readonly string[]).includes(type));
  if (kind !== 'webhook' && unsupported !== undefined)
    throw unprocessable(
      `types: ${unsupported} is not supported for an endpoint of the kind ${kind}; use ${messageTypes.join(', ')}.`,
    );
}

interface ChangedDestination {
  readonly url?: string;
  readonly mail?: EndpointRow['mail'];
  readonly secret?: string;
}

function changedDestination(
  { kind, mail }: EndpointRow,
  { url, smtp, from, to }: EndpointChange['body'],
  egress: Egress,
): ChangedDestination {
  if (url !== undefined) {
    checkUrl(url, egress);
    return kind === 'slack' ? { url: new URL(url).origin, secret: url } : { url };
  }
  if (!mail || (smtp ?? from ?? to) === undefined) return {};
  const smtpSettings: NonNullable<typeof smtp> = smtp ?? mail.smtp;
  const { password, ...server } = smtpSettings;
  if (smtp) {
    if (password !== undefined && server.user === undefined)
      throw unprocessable('smtp.user: required with smtp.password.');
    // A stored password is sent only to the server that it was set for.
    const isSame = (['host', 'port', 'security', 'user'] as const).every(
      (key) => server[key] === mail.smtp[key],
    );
    if (!isSame && server.user !== undefined && password === undefined)
      throw unprocessable('smtp.password: required when the server or the user changes.');
  }
  const changed = mailDestination(
    { smtp: { ...server, password }, from: from ?? mail.from, to: to ?? mail.to },
    egress,
  );
  const isReplaced = smtp !== undefined && (password !== undefined || server.user === undefined);
  return { url: changed.url, mail: changed.mail, ...(isReplaced && { secret: changed.secret }) };
}
