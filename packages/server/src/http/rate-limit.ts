/**
 * Token buckets in memory. With several processes behind a load balancer, each process allows the whole rate, so together they allow at
 * most the rate times the number of processes.
 */
import type { Principal } from '../auth/principal.ts';
import { Problem } from '../problem.ts';
import { apiHeaders } from './headers.ts';
import { failureHeaders } from '../failure-headers.ts';

/** The part of Fastify's reply that a limit uses: the published types must not depend on Fastify's. */
interface LimitedReply {
  statusCode: number;
  header(name: string, value: string | number): LimitedReply;
  headers(values: Readonly<Record<string, string>>): LimitedReply;
  send(body: unknown): unknown;
}

export interface RateLimit {
  /** Size of the bucket: the number of requests that may arrive at once. */
  readonly burst: number;
  /** Refill rate: requests per second. */
  readonly perSecond: number;
}

/** Rate limits of this process. An omitted limit is unlimited. */
export interface RateLimits {
  /** All keys of one environment are counted together. */
  readonly secretKey?: RateLimit;
  /** Per token. */
  readonly personalAccessToken?: RateLimit;
  /** Per browser session. */
  readonly browser?: RateLimit;
  /** Per token; tokens of one user in one environment are counted together. */
  readonly publicToken?: RateLimit;
  /** Runs created in batches, one token for each run; all callers of one kind in an environment are counted together. */
  readonly batchRuns?: { readonly secretKey?: RateLimit; readonly publicToken?: RateLimit };
  /** `requests`: login requests from one address. `tried`: user codes entered by one user. */
  readonly logins?: { readonly requests?: RateLimit; readonly tried?: RateLimit };
  /**
   * Browser logins. `logins`: from one address, including successful ones. `passwords`: for one user from one address. `userPasswords`: for one
   * user from all addresses. `addressPasswords`: for all users from one address. `links`: created by one user.
   */
  readonly browsers?: Readonly<
    Partial<Record<'logins' | 'passwords' | 'userPasswords' | 'addressPasswords' | 'links', RateLimit>>
  >;
  /** Requests from one address to operations without a credential; for callbacks and webhooks, only rejected ones. */
  readonly openRequests?: RateLimit;
  /** Valid requests to one webhook. */
  readonly webhooks?: RateLimit;
  /** Requests with an invalid credential from one address. */
  readonly badCredentials?: RateLimit;
  /** Overrides by operation id. Each caller has a separate bucket for each of these operations. */
  readonly operations?: Readonly<Record<string, RateLimit>>;
}

/**
 * Public tokens are limited, because anyone may hold one. Secret keys are not: their holders are trusted. The limits are never below those of
 * the service that the clients were written for: 60 a minute, and 750 at once with 25 a second.
 */
export const defaultRateLimits: RateLimits = {
  publicToken: { burst: 100, perSecond: 10 },
  personalAccessToken: { burst: 750, perSecond: 60 },
  browser: { burst: 750, perSecond: 60 },
  batchRuns: { publicToken: { burst: 5_000, perSecond: 100 } },
  // A user code has 34 bits and is valid for ten minutes, so guessing one at this rate is hopeless.
  logins: { requests: { burst: 60, perSecond: 0.2 }, tried: { burst: 20, perSecond: 1 / 30 } },
  browsers: {
    // A page that waits for its approval polls every second, for ten minutes.
    logins: { burst: 1_200, perSecond: 5 },
    passwords: { burst: 5, perSecond: 1 / 30 },
    userPasswords: { burst: 50, perSecond: 1 / 10 },
    addressPasswords: { burst: 30, perSecond: 1 / 5 },
    links: { burst: 30, perSecond: 1 / 10 },
  },
  // Above the limits for logins.
  openRequests: { burst: 2_400, perSecond: 20 },
  // After an outage, a provider sends all requests of an hour at once.
  webhooks: { burst: 5_000, perSecond: 500 },
  badCredentials: { burst: 100, perSecond: 5 },
};

interface Bucket {
  tokens: number;
  /** When `tokens` was computed, in milliseconds since 1970. */
  at: number;
}

export interface Verdict {
  readonly allowed: boolean;
  readonly remaining: number;
  /** When the next request will be allowed, in milliseconds since 1970. */
  readonly resetAt: number;
}

const maxBuckets = 50_000;

/**
 * @param max maximum number of buckets. Beyond it, the least recently used one is dropped, so its key has a full bucket again.
 */
export function createRateLimiter({ burst, perSecond }: RateLimit, max = maxBuckets) {
  /** Least recently used first. */
  const buckets = new Map<string, Bucket>();
  const perMs = perSecond / 1_000;

  const filled = ({ tokens, at }: Bucket, now: number): number =>
    Math.min(burst, tokens + (now - at) * perMs);

  /** A full bucket is the same as a new one. Others that have filled up are dropped when they become the oldest. */
  function makeRoom(now: number): void {
    for (const [key, bucket] of buckets) {
      if (buckets.size < max && filled(bucket, now) < burst) return;
      buckets.delete(key);
    }
  }

  function bucketAt(key: string, now: number): Bucket {
    const known = buckets.get(key);
    if (known) buckets.delete(key);
    else makeRoom(now);
    const bucket = { tokens: known ? filled(known, now) : burst, at: now };
    buckets.set(key, bucket);
    return bucket;
  }

  function take(key: string, now = Date.now(), cost = 1): Verdict {
    const bucket = bucketAt(key, now);
    const allowed = bucket.tokens >= cost;
    if (allowed) bucket.tokens -= cost;
    // After a rejection, when there will be enough tokens for this request; otherwise, when there will be one token.
    const next = allowed ? 1 : cost;
    const resetAt = bucket.tokens >= next ? now : Math.ceil(now + (next - bucket.tokens) / perMs);
    return { allowed, remaining: Math.max(0, Math.floor(bucket.tokens)), resetAt };
  }

  /**
   * Takes any number of tokens, even more than the bucket can hold, and may leave a debt. Requests are rejected while there is a debt. A
   * large request therefore counts in full but can still be accepted.
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

/** The key of the caller's bucket. */
function bucketOf(principal: Principal): string {
  if (principal.kind === 'personalAccessToken' || principal.kind === 'browser') return principal.credentialId;
  const environment = String(principal.environment.id);
  if (principal.kind === 'secretKey') return environment;
  return principal.actor === undefined ? principal.tokenDigest : `${environment}:${principal.actor}`;
}

/** Limits the calls of an operation and sets the `x-ratelimit-…` headers. */
export interface Limiter {
  /** Takes one token from the caller's bucket; false if it responded with 429. */
  admit(principal: Principal, reply: LimitedReply): boolean;
  /** Takes more tokens, for a request that counts as several; throws a 429 Problem while the caller is in debt. */
  charge(principal: Principal, reply: LimitedReply, requests: number): void;
}

/** Whether one more request of a key is allowed. Without a limit it always is. */
export function createThrottle(limit: RateLimit | undefined): (key: string) => boolean {
  if (limit === undefined) return () => true;
  const { take } = createRateLimiter(limit);
  return (key) => take(key).allowed;
}

/** The bucket for runs in batches; undefined without a limit. */
export function createRunBucket(limit: RateLimit | undefined) {
  if (limit === undefined) return undefined;
  const { take } = createRateLimiter(limit);
  return { burst: limit.burst, take: (key: string, runs: number) => take(key, Date.now(), runs) };
}

/** Returns the limiter of an operation; undefined for an operation without limits. */
export function createLimiters(limits: RateLimits): (operation: string) => Limiter | undefined {
  const takeOf = (limit: RateLimit | undefined) => limit && { limit, ...createRateLimiter(limit) };
  const byKind = {
    secretKey: takeOf(limits.secretKey),
    personalAccessToken: takeOf(limits.personalAccessToken),
    publicToken: takeOf(limits.publicToken),
    browser: takeOf(limits.browser),
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
        throw new Problem('rate_limited', error, body);
      },
    };
  };
}

function setRateHeaders(reply: LimitedReply, { burst }: RateLimit, verdict: Verdict): void {
  reply
    .header('x-ratelimit-limit', burst)
    .header('x-ratelimit-remaining', verdict.remaining)
    .header('x-ratelimit-reset', verdict.resetAt);
}

/** A problem document (RFC 9457), as published clients expect it. */
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

function sendRateExceeded(reply: LimitedReply, limit: RateLimit, verdict: Verdict): void {
  const refusal = refusalOf(limit, verdict);
  reply.statusCode = 429;
  reply
    .headers({ ...apiHeaders, ...failureHeaders('rate_limited', refusal.error) })
    .header('retry-after', refusal.secondsUntilReset)
    .header('content-type', 'application/problem+json; charset=utf-8')
    .send(JSON.stringify(refusal));
}
