/** Limits requests by address, with a token bucket for each. */
import { LRUCache } from 'lru-cache';
import { maxEntries } from '../max-entries.ts';
import { Problem } from '../problem.ts';
import type { RateLimit } from './rate-limit.ts';

const maxAddresses = 10_000;

interface Bucket {
  tokens: number;
  at: number;
}

/** Counts a request. Returns 0 if it is allowed, otherwise the seconds until the next one is. */
export type AddressLimit = (address: string) => number;

export function createAddressLimit(
  limit: RateLimit | undefined,
  now = () => performance.now(),
): AddressLimit {
  if (limit === undefined) return () => 0;
  const { burst, perSecond } = limit;
  const buckets = new LRUCache<string, Bucket>(maxEntries(maxAddresses));

  return (address) => {
    const from = networkOf(address);
    const at = now();
    const known = buckets.get(from);
    const tokens = known ? Math.min(burst, known.tokens + ((at - known.at) * perSecond) / 1_000) : burst;
    buckets.set(from, { tokens: Math.max(0, tokens - 1), at });
    return tokens >= 1 ? 0 : Math.max(1, Math.ceil((1 - tokens) / perSecond));
  };
}

/** Counts a request without a credential; throws a 429 Problem above the limit. */
export function countOpenRequest(
  limit: AddressLimit,
  address: string,
  setHeader: (name: string, value: string) => void,
): void {
  const seconds = limit(address);
  if (seconds === 0) return;
  setHeader('retry-after', String(seconds));
  throw new Problem(
    'rate_limited',
    `Too many requests without a credential from this address. Try again in ${seconds} s.`,
  );
}

/** An IPv4 address, or the /64 network of an IPv6 address: one client usually has a whole /64. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!address.includes(':')) return address;
  const [left = '', right] = address.split('%', 1)[0]?.split('::') ?? [];
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const after = right === undefined ? [] : groups(right);
  const before = groups(left);
  const zeros = right === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  const all = [...before, ...Array.from({ length: zeros }, () => '0'), ...after];
  return `${all.slice(0, 4).join(':').toLowerCase()}::/64`;
}
