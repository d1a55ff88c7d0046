import { setTimeout } from 'node:timers/promises';
import type { Attempt } from './attempt.ts';

/** The `fetch` of the process before `installWire` replaced it. */
const plainFetch = globalThis.fetch;
const firstMs = 500;
const maxMs = 5_000;
/** Maximum number of retries of an internal server error. */
const maxFaults = 5;

/** The server's address, without a trailing slash. */
export const apiUrl = (): string => (process.env['MILLRACE_API_URL'] ?? '').replace(/\/+$/, '');

/** The credential of the attempt. */
export async function credentialOf({ scope }: Attempt): Promise<string> {
  if (!scope.credential) throw new Error('The code runs without a credential for the API.');
  return scope.credential();
}

/**
 * Calls the server on behalf of an attempt. Repeats until the server responds, no matter how long it is unavailable, because a failure
 * would make a retry repeat the work that the attempt waited for. Stops when the attempt receives a stop signal.
 */
export async function callApi(
  attempt: Attempt,
  path: string,
  method: 'GET' | 'PUT' = 'GET',
): Promise<unknown> {
  const { signal } = attempt.scope;
  let faults = 0;
  for (let waitMs = firstMs; ; waitMs = Math.min(maxMs, waitMs * 2)) {
    const credential = await credentialOf(attempt);
    const response = await request(credential, path, method).catch(() => undefined);
    if (response?.ok) return response.json();
    if (response?.status === 500) faults += 1;
    if (response && !isAway(response) && (response.status !== 500 || faults === maxFaults))
      throw new Error(
        `${path}: the server responded with ${response.status}: ${(await response.text()).slice(0, 500)}`,
      );
    await response?.body?.cancel();
    await setTimeout(waitMs * (0.5 + Math.random() / 2), undefined, { signal });
  }
}

/** A server that is unavailable, busy, or without its database. */
const isAway = ({ status, headers }: Response): boolean =>
  (status === 408 || status === 429 || status > 500) && headers.get('x-should-retry') !== 'false';

const request = (credential: string, path: string, method: string): Promise<Response> =>
  plainFetch(`${apiUrl()}${path}`, {
    method,
    headers: { authorization: `Bearer ${credential}` },
    signal: AbortSignal.timeout(60_000),
  });
