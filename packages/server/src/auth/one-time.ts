import type { Queryable } from '../db/connect.ts';
import { Problem } from '../problem.ts';
import type { Principal } from './principal.ts';

/** The use of a one-time token. */
export interface OneTimeUse {
  readonly digest: string;
  /** When the token expires. Its use need not be stored any longer than that. */
  readonly expiresAt: Date;
}

export function oneTimeUseOf(principal: Principal): OneTimeUse | undefined {
  if (principal.kind !== 'publicToken' || principal.oneTimeDigest === undefined) return undefined;
  return { digest: principal.oneTimeDigest, expiresAt: principal.expiresAt };
}

/** The token was used before. If the same request was resent, its request key finds the created object. */
export class TokenUsed extends Problem {
  override name = 'TokenUsed';

  constructor() {
    super('token_used', 'This public access token has already been used: it is valid for one use');
  }
}

// A server with a slow clock may accept the token for this much longer.
const graceMs = 3_600_000;

/**
 * Marks a one-time token as used, in the transaction that creates its object. Throws `TokenUsed` if it was used before. Concurrent
 * uses wait for each other here. `created` is the id of the object.
 */
export async function useOnce(
  sql: Queryable,
  env: number,
  { digest, expiresAt }: OneTimeUse,
  created: string,
): Promise<void> {
  const keepUntil = new Date(Math.min(expiresAt.getTime() + graceMs, 8.64e15));
  const { count } = await sql`
    insert into one_time_uses (digest, env, created, expires_at)
    values (${digest}, ${env}, ${created}, ${keepUntil})
    on conflict do nothing`;
  if (count === 0) throw new TokenUsed();
}

/** Nothing was created, because an idempotency key resolved to an existing object, so the token can be reused. */
export async function unuse(sql: Queryable, { digest }: OneTimeUse): Promise<void> {
  await sql`delete from one_time_uses where digest = ${digest}`;
}
