import type { OperationDeclaration } from '@millrace/contract';
import { isUser } from '../../auth/principal.ts';
import { Problem } from '../../problem.ts';
import type { Request } from '../../request.ts';

type Asking = Pick<Request<OperationDeclaration>, 'principal' | 'setHeader'>;

/**
 * Counts runs that one request makes, before it makes them, whatever they come from: a batch, several triggers, events, a backfill, a bulk
 * replay. A 429 Problem when the caller made too many of late.
 */
export interface TakeRuns {
  (request: Asking, runs: number): void;
  /** Whether anything is counted for this caller at all. */
  isLimited(request: Pick<Asking, 'principal'>): boolean;
}

/** A bucket of tokens, one a run. */
export interface RunBucket {
  readonly burst: number;
  take(
    key: string,
    runs: number,
  ): { readonly allowed: boolean; readonly remaining: number; readonly resetAt: number };
}

/** Limits by the environment, for each kind of credential apart; a kind without a bucket is not limited. */
export function createQuota(
  buckets: Readonly<Partial<Record<Asking['principal']['kind'], RunBucket>>>,
): TakeRuns {
  const take = (request: Asking, runs: number): void => {
    const { principal } = request;
    const bucket = buckets[principal.kind];
    if (!bucket || isUser(principal)) return;
    const { allowed, remaining, resetAt } = bucket.take(String(principal.environment.id), runs);
    request.setHeader('x-ratelimit-limit', String(bucket.burst));
    request.setHeader('x-ratelimit-remaining', String(remaining));
    request.setHeader('x-ratelimit-reset', String(resetAt));
    if (allowed) return;
    request.setHeader('retry-after', String(Math.max(1, Math.ceil((resetAt - Date.now()) / 1_000))));
    throw new Problem(
      'rate_limited',
      `Batch rate limit exceeded: at most ${bucket.burst} runs at once, and ${remaining} are left. ` +
        `It resets at ${new Date(resetAt).toISOString()}.`,
    );
  };
  return Object.assign(take, {
    isLimited: ({ principal }: Pick<Asking, 'principal'>) => buckets[principal.kind] !== undefined,
  });
}
