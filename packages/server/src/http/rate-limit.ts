/**
 * Token buckets, held in this process: with several processes behind a balancer each allows the whole rate, so together they
 * allow at most the rate times their number.
 */
import type { FastifyReply } from 'fastify';
import type { Principal } from '../auth/principal.ts';
import { Problem } from '../problem.ts';
import { apiHeaders } from './headers.ts';

export interface RateLimit {
  /** Requests that may come at once. */
  readonly burst: number;
  /** Requests a second that the bucket refills with. */
  readonly perSecond: number;
}

/** How much callers may ask of this process. What is left out is not limited. */
export interface RateLimits {
  /** All keys of one environment together. */
  readonly secretKey?: RateLimit;
  /** Each token. */
  readonly personalAccessToken?: RateLimit;
  /** Each token; tokens of one user in one environment together. */
  readonly publicToken?: RateLimit;
  /** Runs that come in batches, one token each: all callers of one kind in an environment together. */
  readonly batchRuns?: { readonly secretKey?: RateLimit; readonly publicToken?: RateLimit };
  /** Machines that ask to be let in, of one address; user codes that one user tries. */
  readonly logins?: { readonly asked?: RateLimit; readonly tried?: RateLimit };
  /** Requests from one address whose credential is none. */
  readonly badCredentials?: RateLimit;
  /** Instead of these, for operations by id: each caller has a bucket of its own for each of them. */
  readonly operations?: Readonly<Record<string, RateLimit>>;
}

/**
 * Public tokens are in hands that nobody knows, so they are limited; whoever has a key runs the server or is trusted by who
 * does, and is not. Never less than the service that clients were made for allows: 60 a minute, and 750 at once with 25 a second.
 */
export const defaultRateLimits: RateLimits = {
  publicToken: { burst: 100, perSecond: 10 },
  personalAccessToken: { burst: 750, perSecond: 60 },
  batchRuns: { publicToken: { burst: 5_000, perSecond: 100 } },
  // Within the ten minutes of a code: of 34 bits, nobody hits one that is not theirs.
  logins: { asked: { burst: 60, perSecond: 0.2 }, tried: { burst: 20, perSecond: 1 / 30 } },
  badCredentials: { burst: 100, perSecond: 5 },
};

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

const maxBuckets = 10_000;

export function createRateLimiter({ burst, perSecond }: RateLimit) {
  const buckets = new Map<string, Bucket>();
  const perMs = perSecond / 1_000;

  const filled = ({ tokens, at }: Bucket, now: number): number =>
    Math.min(burst, tokens + (now - at) * perMs);

  /** A bucket that is full again says nothing that a new one does not. */
  function dropFull(now: number): void {
    for (const [key, bucket] of buckets) if (filled(bucket, now) >= burst) buckets.delete(key);
  }

  function bucketAt(key: string, now: number): Bucket {
    let bucket = buckets.get(key);
    if (bucket === undefined) {
      if (buckets.size >= maxBuckets) dropFull(now);
      bucket = { tokens: burst, at: now };
      buckets.set(key, bucket);
    }
    bucket.tokens = filled(bucket, now);
    bucket.at = now;
    return bucket;
  }

  function take(key: string, now = Date.now(), cost = 1): Verdict {
    const bucket = bucketAt(key, now);
    const allowed = bucket.tokens >= cost;
    if (allowed) bucket.tokens -= cost;
    // What is refused may come once there is enough for it; what is allowed, as soon as there is enough for the least.
    const next = allowed ? 1 : cost;
    const resetAt = bucket.tokens >= next ? now : Math.ceil(now + (next - bucket.tokens) / perMs);
    return { allowed, remaining: Math.max(0, Math.floor(bucket.tokens)), resetAt };
  }

  /**
   * Takes more than a bucket may ever hold, too, and leaves a debt that has to be paid off before anything else is allowed: so that what
   * comes at once counts in full, and is not refused for ever. Refused while there is a debt.
   */
  function charge(key: string, cost: number, now = Date.now()): Verdict {
    const bucket = bucketAt(key, now);
    const allowed = bucket.tokens >= 0;
    if (allowed) bucket.tokens -= cost;
    const resetAt = bucket.tokens >= 1 ? now : Math.ceil(now + (1 - bucket.tokens) / perMs);
    return { allowed, remaining: Math.max(0, Math.floor(bucket.tokens)), resetAt };
  }

  return { take, charge };
}

/** Whose bucket it is. */
function bucketOf(principal: Principal): string {
  if (principal.kind === 'personalAccessToken') return principal.credentialId;
  const environment = String(principal.environment.id);
  if (principal.kind === 'secretKey') return environment;
  return principal.actor === undefined ? principal.tokenDigest : `${environment}:${principal.actor}`;
}

/** What limits the calls of an operation. Says in the reply's headers how things stand. */
export interface Limiter {
  /** Takes one request from the caller's bucket; false if it has been refused. */
  admit(principal: Principal, reply: FastifyReply): boolean;
  /** Takes more of them, for a request that stands for several; a 429 Problem while earlier ones are not paid off. */
  charge(principal: Principal, reply: FastifyReply, requests: number): void;
}

/** Whether one more may come, for those who are limited. */
export function createGate(limit: RateLimit | undefined): (key: string) => boolean {
  if (limit === undefined) return () => true;
  const { take } = createRateLimiter(limit);
  return (key) => take(key).allowed;
}

/** The bucket of the runs of batches, for those who are limited. */
export function createRunBucket(limit: RateLimit | undefined) {
  if (limit === undefined) return undefined;
  const { take } = createRateLimiter(limit);
  return { burst: limit.burst, take: (key: string, runs: number) => take(key, Date.now(), runs) };
}

/** The limiters of operations; undefined for one that nobody is limited on. */
export function createLimiters(limits: RateLimits): (operation: string) => Limiter | undefined {
  const takeOf = (limit: RateLimit | undefined) => limit && { limit, ...createRateLimiter(limit) };
  const byKind = {
    secretKey: takeOf(limits.secretKey),
    personalAccessToken: takeOf(limits.personalAccessToken),
    publicToken: takeOf(limits.publicToken),
  };
  return (operation) => {
    const own = takeOf(limits.operations?.[operation]);
    if (own === undefined && Object.values(byKind).every((each) => each === undefined)) return undefined;
    return {
      admit(principal, reply) {
        const limited = own ?? byKind[principal.kind];
        if (limited === undefined) return true;
        const { limit, take } = limited;
        const verdict = take(bucketOf(principal));
        setRateHeaders(reply, limit, verdict);
        if (!verdict.allowed) sendRateExceeded(reply, limit, verdict);
        return verdict.allowed;
      },
      charge(principal, reply, requests) {
        const limited = own ?? byKind[principal.kind];
        if (limited === undefined) return;
        const { limit, charge } = limited;
        const verdict = charge(bucketOf(principal), requests);
        setRateHeaders(reply, limit, verdict);
        if (verdict.allowed) return;
        const { error, ...body } = refusalOf(limit, verdict);
        reply.header('retry-after', body.secondsUntilReset);
        throw new Problem(429, error, body);
      },
    };
  };
}

function setRateHeaders(reply: FastifyReply, { burst }: RateLimit, verdict: Verdict): void {
  reply
    .header('x-ratelimit-limit', burst)
    .header('x-ratelimit-remaining', verdict.remaining)
    .header('x-ratelimit-reset', verdict.resetAt);
}

/** RFC 9457, as clients of the public API know it. */
function refusalOf({ burst }: RateLimit, { resetAt }: Verdict) {
  const seconds = Math.max(1, Math.ceil((resetAt - Date.now()) / 1_000));
  const wait = `Rate limit exceeded: at most ${burst} requests at once. Try again in ${seconds} s.`;
  return {
    title: 'Rate Limit Exceeded',
    status: 429,
    type: 'https://developer.mozilla.org/en-US/docs/Web/HTTP/Status/429',
    detail: wait,
    reset: resetAt,
    limit: burst,
    remaining: 0,
    secondsUntilReset: seconds,
    error: wait,
  };
}

function sendRateExceeded(reply: FastifyReply, limit: RateLimit, verdict: Verdict): void {
  const refusal = refusalOf(limit, verdict);
  reply.statusCode = 429;
  reply
    .headers(apiHeaders)
    .header('retry-after', refusal.secondsUntilReset)
    .header('content-type', 'application/problem+json; charset=utf-8')
    .send(JSON.stringify(refusal));
}
