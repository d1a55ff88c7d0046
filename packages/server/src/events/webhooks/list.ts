import { webhookPath, type Webhook } from '@millrace/contract';
import type { WebhookVerification } from '@millrace/contract/runner';
import type { Queryable } from '../../db/connect.ts';
import type { Versions } from '../../versions/versions.ts';
import { secretNames, type ReadSecrets } from './secrets.ts';

interface Row {
  readonly id: string;
  readonly address: string;
  /** A bigint. */
  readonly rejected: string;
  readonly last_rejection: string | null;
  readonly last_rejected_at: Date | null;
}

/** The webhooks of the current version, by id. */
export async function listWebhooks(
  sql: Queryable,
  versions: Pick<Versions, 'current'>,
  readSecrets: ReadSecrets,
  { env, baseUrl }: { readonly env: number; readonly baseUrl: string },
): Promise<Webhook[]> {
  const current = await versions.current(env);
  const declared = [...(current?.tasks.values() ?? [])].flatMap(({ id, webhook }) =>
    webhook ? [{ id, verification: webhook.verify }] : [],
  );
  if (declared.length === 0) return [];
  const rows = await sql<Row[]>`
    select id, address, rejected::text as rejected, last_rejection, last_rejected_at
      from webhooks where env = ${env} and id = any(${declared.map(({ id }) => id)}::text[])`;
  const byId = new Map(rows.map((row) => [row.id, row]));
  const listed = await Promise.all(
    declared
      .toSorted((first, second) => (first.id < second.id ? -1 : 1))
      .map(async ({ id, verification }) => {
        const row = byId.get(id);
        return row && { row, verification, secrets: await secretsOf(readSecrets, env, verification) };
      }),
  );
  return listed.flatMap((found) => (found ? [webhookOf(found, baseUrl)] : []));
}

async function secretsOf(
  readSecrets: ReadSecrets,
  env: number,
  verification: WebhookVerification,
): Promise<Webhook['secrets']> {
  return Promise.all(
    secretNames(verification).map(async (name) => ({
      name,
      isSet: (await readSecrets(env, [name])).length > 0,
    })),
  );
}

function webhookOf(
  {
    row,
    verification,
    secrets,
  }: {
    readonly row: Row;
    readonly verification: WebhookVerification;
    readonly secrets: Webhook['secrets'];
  },
  baseUrl: string,
): Webhook {
  const { last_rejection: code, last_rejected_at: at } = row;
  const idHeader =
    verification.scheme === 'hmac' || verification.scheme === 'none' ? verification.idHeader : undefined;
  return {
    id: row.id,
    url: baseUrl + webhookPath + row.address,
    scheme: verification.scheme,
    secrets,
    ...(verification.scheme === 'hmac' && {
      signature: {
        header: verification.header,
        algorithm: verification.algorithm,
        encoding: verification.encoding,
        prefix: verification.prefix ?? '',
      },
    }),
    ...(idHeader !== undefined && { idHeader }),
    rejected: Number(row.rejected),
    lastRejection: code !== null && at ? { code, at: at.toISOString() } : null,
  };
}
