import type { OperationDeclaration } from '@millrace/contract';
import { isUser } from '../../auth/principal.ts';
import { Problem } from '../../problem.ts';
import type { Request } from '../../request.ts';

type Asking = Pick<Request<OperationDeclaration>, 'principal' | 'setHeader'>;

/**
 * Counts the runs of a request before they are created, from any source: a batch, several triggers, events, a backfill, a bulk replay.
 * Throws a 429 Problem if the caller has created too many recently.
 */
export interface TakeRuns {
  (request: Asking, runs: number): void;
  /** Whether the caller is limited at all. */
  isLimited(request: Pick<Asking, 'principal'>): boolean;
}

/** A token bucket with one token per run. */
export interface RunBucket {
  readonly burst: number;
  take(
    key: string,
    runs: number,
  ): { readonly allowed: boolean; readonly remaining: number; readonly resetAt: number };
}

/** Limits for each environment and kind of credential; a kind without a bucket is not limited. */
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
      `Batch rate limit exceeded: at most ${bucket.burst} runs at once; ${remaining} remaining. ` +
        `It resets at ${new Date(resetAt).toISOString()}.`,
    );
  };
  return Object.assign(take, {
    isLimited: ({ principal }: Pick<Asking, 'principal'>) => buckets[principal.kind] !== undefined,
  });
}
