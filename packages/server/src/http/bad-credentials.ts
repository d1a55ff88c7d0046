/**
 * Limits failed authentication by address, with a token bucket. Only failures count: a valid credential is accepted from any address
 * at any time. A valid credential that is used for the wrong operation does not count either.
 */
import { LRUCache } from 'lru-cache';
import { MisusedCredential, Problem } from '../problem.ts';
import type { RateLimit } from './rate-limit.ts';

const maxAddresses = 10_000;

interface Bucket {
  tokens: number;
  at: number;
}

/** Returns the error itself, or a 429 Problem once the address has failed too often; then it also sets `Retry-After`. */
export type BadCredentialLimit = (
  error: unknown,
  address: string,
  setHeader: (name: string, value: string) => void,
) => unknown;

export function createBadCredentialLimit(
  limit: RateLimit | undefined,
  now = () => performance.now(),
): BadCredentialLimit {
  if (limit === undefined) return (error) => error;
  const { burst, perSecond } = limit;
  const buckets = new LRUCache<string, Bucket>({ max: maxAddresses });

  return (error, address, setHeader) => {
    if (!(error instanceof Problem) || error.status !== 401 || error instanceof MisusedCredential)
      return error;
    const from = networkOf(address);
    const at = now();
    const known = buckets.get(from);
    const tokens = known ? Math.min(burst, known.tokens + ((at - known.at) * perSecond) / 1_000) : burst;
    buckets.set(from, { tokens: Math.max(0, tokens - 1), at });
    if (tokens >= 1) return error;
    const seconds = Math.max(1, Math.ceil((1 - tokens) / perSecond));
    setHeader('retry-after', String(seconds));
    // Repeating the request cannot help: the credential stays wrong.
    return new Problem(
      429,
      `Too many wrong credentials from this address. Correct the credential, or try again in ${seconds} s.`,
      {},
      false,
    );
  };
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
