/** Data sealed by a codec of the client. The server never has it in the clear: the browser calls the user's own endpoint to open it. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';

/** The replacement of a sealed value. */
interface Envelope {
  readonly $sealed: {
    readonly key: string;
    readonly for: string;
    readonly type: string;
    readonly data: string;
  };
}

type Answer = { readonly value: unknown } | { readonly error: string };

/** The endpoint in the server's settings. */
export const codecEndpoint: string | undefined =
  document.querySelector('meta[name="millrace-codec-endpoint"]')?.getAttribute('content') ?? undefined;

/** Maximum number of values that an endpoint accepts at once. */
const maxAtOnce = 1_000;

export const isSealed = (value: unknown): value is Envelope =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as Partial<Envelope>).$sealed?.data === 'string' &&
  Object.keys(value).length === 1;

/** Calls the endpoint, including the reader's cookies for it: it decides who may see clear text. */
async function ask(endpoint: string, values: readonly Envelope[], signal?: AbortSignal): Promise<Answer[]> {
  let response: Response;
  try {
    response = await fetch(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ values }),
      credentials: 'include',
      cache: 'no-store',
      redirect: 'error',
      ...(signal && { signal }),
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new Error('it cannot be reached, or it does not allow requests from this dashboard.', {
      cause: error,
    });
  }
  const body = (await response.json().catch(() => ({}))) as { values?: unknown; error?: unknown };
  if (!response.ok)
    throw new Error(typeof body.error === 'string' ? body.error : `it responded with ${response.status}.`);
  if (!Array.isArray(body.values) || body.values.length !== values.length)
    throw new Error('its response is not in the codec format.');
  return body.values as Answer[];
}

/** All envelopes inside a value. */
function envelopesIn(value: unknown, found: Envelope[] = []): Envelope[] {
  if (isSealed(value)) found.push(value);
  else if (Array.isArray(value)) for (const item of value) envelopesIn(item, found);
  else if (typeof value === 'object' && value !== null)
    for (const member of Object.values(value)) envelopesIn(member, found);
  return found;
}

/** The value with its envelopes replaced by the opened values. */
function replaced(value: unknown, opened: ReadonlyMap<string, unknown>): unknown {
  if (isSealed(value)) return opened.has(value.$sealed.data) ? opened.get(value.$sealed.data) : value;
  if (Array.isArray(value)) return value.map((item: unknown) => replaced(item, opened));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, replaced(member, opened)]));
}

/**
 * A value with every envelope opened that the endpoint can open. If it opens none, throws an error with the reason.
 * @param endpoint an address
 */
export async function openSealed<T>(endpoint: string, value: T, signal?: AbortSignal): Promise<T> {
  const envelopes = envelopesIn(value);
  const opened = new Map<string, unknown>();
  let refused: string | undefined;
  for (let from = 0; from < envelopes.length; from += maxAtOnce) {
    const some = envelopes.slice(from, from + maxAtOnce);
    const answers = await ask(endpoint, some, signal);
    for (const [index, answer] of answers.entries()) {
      if ('value' in answer) opened.set(some[index]!.$sealed.data, answer.value);
      else refused ??= answer.error;
    }
  }
  if (opened.size === 0 && refused !== undefined) throw new Error(refused);
  return replaced(value, opened) as T;
}

export interface Opened<T> {
  readonly value: T;
  /** Undefined if nothing is sealed. */
  readonly state: 'opening' | 'opened' | 'sealed' | undefined;
  /** The name of a key that sealed a part of it. */
  readonly key: string | undefined;
  readonly error: Error | null;
  readonly retry: () => void;
}

/** A value, opened if a part of it is sealed and there is an endpoint. Only for display: it must not be sent to the server again. */
export function useOpened<T>(value: T): Opened<T> {
  // A value may have 10 MB, and the page is rendered often.
  const envelopes = useMemo(() => envelopesIn(value), [value]);
  const endpoint = codecEndpoint ?? '';
  const query = useQuery({
    queryKey: ['opened', ...envelopes.map(({ $sealed }) => $sealed.data)],
    enabled: envelopes.length > 0 && endpoint !== '',
    queryFn: ({ signal }) => openSealed(endpoint, value, signal),
    staleTime: Infinity,
    // Clear text is kept in the page only while it is shown.
    gcTime: 0,
    retry: false,
  });
  const key = envelopes[0]?.$sealed.key;
  const retry = () => void query.refetch();
  if (envelopes.length === 0) return { value, state: undefined, key, error: null, retry };
  if (query.data !== undefined) return { value: query.data, state: 'opened', key, error: null, retry };
  const state = query.isFetching ? 'opening' : 'sealed';
  return { value, state, key, error: query.error, retry };
}
