import type { ApiClient } from '../client/api-client.ts';
import { eventsAt } from '../client/event-stream.ts';

const runEvents: ReadonlySet<string> = new Set(['run']);

/**
 * The events of runs across reconnections: a broken connection resumes after the last event. Ends when the server ends the stream or the signal
 * is aborted. Throws an ApiError for a permanent failure.
 */
export async function* followRuns(
  client: ApiClient,
  path: string,
  signal: AbortSignal | undefined,
  /** The events that are yielded. */
  names: ReadonlySet<string> = runEvents,
): AsyncGenerator<unknown, void, undefined> {
  let last = '';
  const position = (): Record<string, string> => (last === '' ? {} : { 'last-event-id': last });
  for await (const { event, id, data } of eventsAt(client, path, signal, position)) {
    if (event === 'end') return;
    if (!names.has(event)) continue;
    yield JSON.parse(data) as unknown;
    last = id || last;
  }
}
