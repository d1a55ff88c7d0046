import { failureIn } from '@millrace/contract/plain';
import type { ApiClient } from '../client/api-client.ts';
import { errorOf } from '../client/api-error.ts';
import { headersOf } from '../client/exchange.ts';
import { accessTokenOf, type ResolvedSettings } from '../client/settings.ts';
import { sentEvents } from '../sessions/event-source.ts';
import { pause } from './pause.ts';

const final = new Set([400, 401, 403, 404, 409, 410, 422]);
const firstDelayMs = 100;
const maxDelayMs = 5_000;
/** Pings come every five seconds; a connection silent for this long is none. */
const silentMs = 30_000;

const runEvents: ReadonlySet<string> = new Set(['run']);

/**
 * What is told of runs, whatever becomes of the connections: one that breaks is made again from the last event on. Ends when the
 * server says so or the signal is raised; throws an ApiError that no other attempt would change.
 */
export async function* followRuns(
  { settings }: ApiClient,
  path: string,
  signal: AbortSignal | undefined,
  /** The events that are yielded. */
  names: ReadonlySet<string> = runEvents,
): AsyncGenerator<unknown, void, undefined> {
  let last = '';
  let delay = firstDelayMs;
  while (!signal?.aborted) {
    const connection = new AbortController();
    const abort = () => connection.abort();
    signal?.addEventListener('abort', abort);
    let alarm: ReturnType<typeof setTimeout> | undefined;
    const heard = (): void => {
      clearTimeout(alarm);
      alarm = setTimeout(abort, silentMs);
    };
    try {
      heard();
      const accessToken = await credentialOf(settings);
      const response = await fetch(settings.baseURL + path, {
        headers: {
          ...headersOf(settings, accessToken, 'GET'),
          accept: 'text/event-stream',
          ...(last !== '' && { 'last-event-id': last }),
        },
        signal: connection.signal,
        cache: 'no-store',
      });
      if (!response.ok || !response.body) {
        const text = await response.text();
        const { status, headers } = response;
        if (final.has(status))
          throw new Final(errorOf({ status, text, ...failureIn((name) => headers.get(name)) }));
        throw new Error(`status ${status}`);
      }
      for await (const { event, id, data } of sentEvents(response.body, heard)) {
        delay = firstDelayMs;
        if (event === 'end') return;
        if (!names.has(event)) continue;
        // The reader takes its time; that is no silence of the server.
        clearTimeout(alarm);
        yield JSON.parse(data) as unknown;
        // Only now: whoever stops here did not have it.
        if (id !== '') last = id;
        heard();
      }
    } catch (error) {
      if (error instanceof Final) throw error.reason;
    } finally {
      clearTimeout(alarm);
      signal?.removeEventListener('abort', abort);
      connection.abort();
    }
    await pause(delay * (0.5 + Math.random() / 2), signal).catch(() => {});
    delay = Math.min(maxDelayMs, delay * 2);
  }
}

/** Asked for each connection: that of a run does not last as long as some of them. */
async function credentialOf(settings: ResolvedSettings): Promise<string> {
  try {
    return await accessTokenOf(settings);
  } catch (error) {
    throw new Final(error as Error);
  }
}

class Final extends Error {
  readonly reason: Error;

  constructor(reason: Error) {
    super(reason.message);
    this.reason = reason;
  }
}
