import { setTimeout } from 'node:timers/promises';
import type { Attempt } from './attempt.ts';

/** The `fetch` of the process before `installWire` replaced it. */
const plainFetch = globalThis.fetch;
const maxTries = 5;

/** The server's address, without a slash at its end. */
export const apiUrl = (): string => (process.env['MILLRACE_API_URL'] ?? '').replace(/\/+$/, '');

/** The credential of the attempt. */
export async function credentialOf({ scope }: Attempt): Promise<string> {
  if (!scope.credential) throw new Error('The code runs without a credential for the API.');
  return scope.credential();
}

/** Calls the server on behalf of an attempt. Repeats what fails on the way. */
export async function callApi(
  attempt: Attempt,
  path: string,
  method: 'GET' | 'PUT' = 'GET',
): Promise<unknown> {
  for (let number = 1; ; number += 1) {
    const response = await request(attempt, path, method).catch((error: unknown) => {
      if (number === maxTries) throw error;
      return undefined;
    });
    if (response?.ok) return response.json();
    if (response && (number === maxTries || (response.status < 500 && response.status !== 429)))
      throw new Error(
        `${path}: the server answered ${response.status}: ${(await response.text()).slice(0, 500)}`,
      );
    await response?.body?.cancel();
    await setTimeout(250 * 2 ** number * (0.5 + Math.random() / 2));
  }
}

const request = async (attempt: Attempt, path: string, method: string): Promise<Response> =>
  plainFetch(`${apiUrl()}${path}`, {
    method,
    headers: { authorization: `Bearer ${await credentialOf(attempt)}` },
    signal: AbortSignal.timeout(60_000),
  });
