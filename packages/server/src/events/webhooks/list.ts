import { webhookPath, type Webhook } from '@millrace/contract';
import type { WebhookVerification } from '@millrace/contract/runner';
import type { Queryable } from '../../db/connect.ts';
import type { Engine } from '../../runs/engine/engine.ts';
import { groupBy } from '../../runs/values/group-by.ts';
import { failuresOf, readSeries, totalOf } from '../../telemetry/stats/read.ts';
import { seriesName } from '../../telemetry/stats/series.ts';
import { secretNames, type ReadSecrets } from './secrets.ts';

interface Row {
  readonly id: string;
  readonly address: string;
  /** A bigint. */
  readonly rejected: string;
  readonly last_rejection: string | null;
  readonly last_rejected_at: Date | null;
  readonly last_delivery_at: Date | null;
}

interface RejectionRow {
  readonly webhook: string;
  readonly code: string;
  readonly n: string;
  readonly at: Date;
}

type LastDay = Webhook['lastDay'];

const hourMs = 3_600_000;

/** The webhooks of the current version, by id. */
export async function listWebhooks(
  { sql, versions, clock }: Pick<Engine, 'sql' | 'versions' | 'clock'>,
  readSecrets: ReadSecrets,
  { env, baseUrl }: { readonly env: number; readonly baseUrl: string },
): Promise<Webhook[]> {
  const current = await versions.current(env);
  const declared = [...(current?.tasks.values() ?? [])].flatMap(({ id, webhook }) =>
    webhook ? [{ id, verification: webhook.verify }] : [],
  );
  if (declared.length === 0) return [];
  const ids = declared.map(({ id }) => id);
  const to = Math.ceil(clock.now() / hourMs) * hourMs;
  const lastDay = { from: new Date(to - 24 * hourMs), to: new Date(to) };
  const [rows, rejections, runs] = await Promise.all([
    sql<Row[]>`
      select w.id, w.address, w.rejected::text as rejected, w.last_rejection, w.last_rejected_at,
             (select d.created_at from webhook_deliveries d where d.env = w.env and d.webhook = w.id
               order by d.created_at desc limit 1) as last_delivery_at
        from webhooks w where w.env = ${env} and w.id = any(${ids}::text[])`,
    readRejections(sql, env, { ids, since: lastDay.from }),
    readSeries(sql, env, ids.map(seriesName.task), { ...lastDay, stepMs: hourMs, widthMinutes: 60 }),
  ]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const listed = await Promise.all(
    declared
      .toSorted((first, second) => (first.id < second.id ? -1 : 1))
      .map(async ({ id, verification }) => {
        const row = byId.get(id);
        return row && { row, verification, secrets: await secretsOf(readSecrets, env, verification) };
      }),
  );
  return listed.flatMap((found) => {
    if (!found) return [];
    const { id } = found.row;
    const failed = failuresOf(totalOf(runs.get(seriesName.task(id)) ?? []));
    return [webhookOf(found, baseUrl, { failed, rejections: (rejections.get(id) ?? []).map(rejectionOf) })];
  });
}

/** Rejected requests by webhook and error code, the most frequent first. */
async function readRejections(
  sql: Queryable,
  env: number,
  { ids, since }: { readonly ids: readonly string[]; readonly since: Date },
): Promise<ReadonlyMap<string, RejectionRow[]>> {
  const rows = await sql<RejectionRow[]>`
    select webhook, code, sum(n)::text as n, max(last_at) as at from webhook_rejections
     where env = ${env} and webhook = any(${[...ids]}::text[]) and hour >= ${since}
     group by webhook, code order by sum(n) desc, code`;
  return groupBy(rows, ({ webhook }) => webhook);
}

const rejectionOf = ({ code, n, at }: RejectionRow): LastDay['rejections'][number] => ({
  code,
  count: Number(n),
  lastAt: at.toISOString(),
});

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
  lastDay: LastDay,
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
    lastDeliveryAt: row.last_delivery_at?.toISOString() ?? null,
    lastDay,
  };
}
