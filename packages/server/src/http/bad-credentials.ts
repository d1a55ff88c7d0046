/**
 * Limits failed authentication by address, with a token bucket. Only failures count: a valid credential is accepted from any address
 * at any time. A valid credential that is used for the wrong operation does not count either.
 */
import { MisusedCredential, Problem } from '../problem.ts';
import { createAddressLimit } from './address-limit.ts';
import type { RateLimit } from './rate-limit.ts';

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
  const secondsUntilAllowed = createAddressLimit(limit, now);

  return (error, address, setHeader) => {
    if (!(error instanceof Problem) || error.status !== 401 || error instanceof MisusedCredential)
      return error;
    const seconds = secondsUntilAllowed(address);
    if (seconds === 0) return error;
    setHeader('retry-after', String(seconds));
    // Repeating the request cannot help, because the credential remains invalid.
    return new Problem(
      'rate_limited',
      `Too many invalid credentials from this address. Correct the credential, or try again in ${seconds} s.`,
      {},
      false,
    );
  };
}
