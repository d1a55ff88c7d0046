/** The airline, the hotel and the bank: services of other companies, reached over HTTP. */

export interface Booking {
  readonly id: string;
}

/**
 * Sends a request to a service. A repeated request with the same key has no further effect and gets the first response. Throws a
 * RefusedError if the service rejects it.
 */
export async function ask(
  path: string,
  body: object,
  { idempotencyKey, signal }: { readonly idempotencyKey: string; readonly signal: AbortSignal },
): Promise<Booking> {
  const url = process.env['TRIP_SERVICES'] ?? 'http://127.0.0.1:4050';
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
    body: JSON.stringify(body),
    signal,
  });
  if (response.status === 402) throw new RefusedError(await response.text());
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  return (await response.json()) as Booking;
}

/** The service rejected the request: a retry would not help. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}
