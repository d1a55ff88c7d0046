import type { Queryable } from '../db/connect.ts';
import { Problem } from '../problem.ts';
import type { Principal } from './principal.ts';

/** A one-time token about to be used up. */
export interface OneTimeUse {
  readonly digest: string;
  /** When the token ends of itself: nobody needs to know of its use after that. */
  readonly expiresAt: Date;
}

export function oneTimeUseOf(principal: Principal): OneTimeUse | undefined {
  if (principal.kind !== 'publicToken' || principal.oneTimeDigest === undefined) return undefined;
  return { digest: principal.oneTimeDigest, expiresAt: principal.expiresAt };
}

/** It created something before; if that was this very request, its request key leads there by now. */
export class TokenUsed extends Problem {
  override name = 'TokenUsed';

  constructor() {
    super(422, 'The public access token has been used already: it is good for one use');
  }
}

// Of two uses at once one waits for the other here, and for an hour a clock that is behind may still take the token for live.
const graceMs = 3_600_000;

/**
 * Uses a one-time token up, in the transaction that creates what it is used for: both happen or neither. `TokenUsed` if it was used
 * before. `created` is the id of what is created.
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

/** Nothing was created after all (an idempotency key led to what was there): the token is as good as before. */
export async function unuse(sql: Queryable, { digest }: OneTimeUse): Promise<void> {
  await sql`delete from one_time_uses where digest = ${digest}`;
}
