/** A token bucket for each caller, held in this process: with several processes each allows the whole rate. */
import type { FastifyReply } from 'fastify';
import type { Principal } from '../auth/principal.ts';

export interface RateLimit {
  /** Requests that may come at once. */
  readonly burst: number;
  /** Requests a second that the bucket refills with. */
  readonly perSecond: number;
}

interface Bucket {
  tokens: number;
  /** When `tokens` was true, in milliseconds since 1970. */
  at: number;
}

export interface Verdict {
  readonly allowed: boolean;
  readonly remaining: number;
  /** When the next request will be allowed, in milliseconds since 1970. */
  readonly resetAt: number;
}

const mostBuckets = 10_000;

export function createRateLimiter({ burst, perSecond }: RateLimit) {
  const buckets = new Map<string | number, Bucket>();
  const perMs = perSecond / 1_000;

  const filled = ({ tokens, at }: Bucket, now: number): number =>
    Math.min(burst, tokens + (now - at) * perMs);

  /** A bucket that is full again says nothing that a new one does not. */
  function dropFull(now: number): void {
    for (const [key, bucket] of buckets) if (filled(bucket, now) >= burst) buckets.delete(key);
  }

  return function take(key: string | number, now = Date.now()): Verdict {
    let bucket = buckets.get(key);
    if (bucket === undefined) {
      if (buckets.size >= mostBuckets) dropFull(now);
      bucket = { tokens: burst, at: now };
      buckets.set(key, bucket);
    }
    bucket.tokens = filled(bucket, now);
    bucket.at = now;
    const allowed = bucket.tokens >= 1;
    if (allowed) bucket.tokens -= 1;
    const resetAt = bucket.tokens >= 1 ? now : Math.ceil(now + (1 - bucket.tokens) / perMs);
    return { allowed, remaining: Math.floor(bucket.tokens), resetAt };
  };
}

/** All keys of one environment share a bucket. */
export const bucketOf = (principal: Principal): string | number =>
  principal.kind === 'secretKey' ? principal.environment.id : principal.credentialId;

export function setRateHeaders(reply: FastifyReply, { burst }: RateLimit, verdict: Verdict): void {
  reply
    .header('x-ratelimit-limit', burst)
    .header('x-ratelimit-remaining', verdict.remaining)
    .header('x-ratelimit-reset', verdict.resetAt);
}

/** RFC 9457, as clients of the public API know it. */
export function sendRateExceeded(reply: FastifyReply, { burst }: RateLimit, { resetAt }: Verdict): void {
  const seconds = Math.max(1, Math.ceil((resetAt - Date.now()) / 1_000));
  const wait = `Rate limit exceeded: at most ${burst} requests at once. Try again in ${seconds} s.`;
  reply.statusCode = 429;
  reply
    .header('retry-after', seconds)
    .header('content-type', 'application/problem+json; charset=utf-8')
    .send(
      JSON.stringify({
        title: 'Rate Limit Exceeded',
        status: 429,
        type: 'https://developer.mozilla.org/en-US/docs/Web/HTTP/Status/429',
        detail: wait,
        reset: resetAt,
        limit: burst,
        remaining: 0,
        secondsUntilReset: seconds,
        error: wait,
      }),
    );
}
