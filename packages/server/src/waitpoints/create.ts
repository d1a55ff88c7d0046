import { parseDelay, parseDuration, type Body, type Operations } from '@millrace/contract';
import type { MasterKey } from '../auth/seal.ts';
import { newTimedId } from '../db/ids.ts';
import { compileFilter } from '../events/filter.ts';
import { parsePattern, SubscriptionRefused } from '../events/pattern.ts';
import { jsonOfField } from '../json/levels.ts';
import { badRequest } from '../problem.ts';
import type { Engine } from '../runs/engine/engine.ts';
import { storedKey, storedWaitKey, waitKeyMs } from '../runs/create/idempotency-key.ts';
import { storableText } from '../runs/values/storable.ts';
import { newCallback, type Addressed } from './callback.ts';

type NewToken = NonNullable<Body<Operations['createWaitpointToken']>>;

export interface CreatedToken extends Addressed {
  readonly isCached: boolean;
}

export const defaultTimeoutMs = 600_000;
const defaultKeyMs = 30 * 86_400_000;
export const maxMs = 100 * 366 * 86_400_000;

/** Creates a token, or finds the one that its idempotency key resolved to before. */
export async function createToken(
  { sql, clock }: Engine,
  masterKey: MasterKey,
  env: number,
  input: NewToken,
): Promise<CreatedToken> {
  const now = clock.now();
  const { waitKey, idempotencyKey } = input;
  const key =
    waitKey !== undefined
      ? storedWaitKey(waitKey)
      : idempotencyKey === undefined
        ? null
        : storedKey(idempotencyKey);
  const expiresAt = new Date(readTimeout(input.timeout, now));
  const keyMs = waitKey === undefined ? readKeyTtl(input.idempotencyKeyTTL) : waitKeyMs;
  const keyExpiresAt = key === null ? null : new Date(now + keyMs);
  const tags = [...new Set((input.tags ?? []).map((tag) => tag.trim()).filter((tag) => tag !== ''))];
  const event = readEvent(input.event);
  const schema = input.schema === undefined ? null : storableText(jsonOfField(input.schema, 'schema'));
  const id = newTimedId('waitpoint', now);
  return sql.begin(async (tx) => {
    if (key !== null) {
      await tx`
        update waitpoints set idempotency_key = null
         where env = ${env} and idempotency_key = ${key} and idempotency_expires_at <= ${new Date(now)}`;
    }
    const [row] = await tx<CreatedToken[]>`
      insert into waitpoints as w (env, id, idempotency_key, idempotency_expires_at, sealed, tags, schema, expires_at, created_at)
      values (${env}, ${id}, ${key}, ${keyExpiresAt}, ${newCallback(masterKey, id)}, ${tags.length > 0 ? tags : null}::text[], ${schema},
              ${expiresAt}, ${new Date(now)})
      on conflict (env, idempotency_key) where idempotency_key is not null do update set idempotency_key = w.idempotency_key
      returning w.id, w.sealed, w.id <> ${id} as "isCached"`;
    const created = row as CreatedToken;
    if (event && !created.isCached) {
      await tx`
        insert into event_waits (env, name, waitpoint_id, filter)
        values (${env}, ${event.name}, ${id}, ${event.filter === undefined ? null : JSON.stringify(event.filter)})`;
    }
    return created;
  });
}

function readTimeout(timeout: string | undefined, now: number): number {
  if (timeout === undefined) return now + defaultTimeoutMs;
  const read = parseDelay(timeout, new Date(now));
  if (!(read instanceof Date)) throw badRequest(`timeout: ${read.error}`);
  return Math.min(read.getTime(), now + maxMs);
}

function readKeyTtl(ttl: string | undefined): number {
  if (ttl === undefined) return defaultKeyMs;
  const read = parseDuration(ttl);
  if (typeof read === 'number') return Math.min(read, maxMs);
  throw badRequest(`idempotencyKeyTTL: ${read.error}`);
}

/** The name must be exact, because with patterns every event would have to be compared with every wait. */
function readEvent(event: NewToken['event']): NewToken['event'] {
  if (!event) return undefined;
  const { name, filter } = event;
  if (name.includes('*') || name.includes('\0')) {
    throw badRequest(`event.name: must be the name of an event, such as order.paid, without *.`);
  }
  try {
    parsePattern(name);
    compileFilter(filter);
  } catch (error) {
    if (error instanceof SubscriptionRefused) throw badRequest(`event: ${error.message}`);
    throw error;
  }
  return event;
}
