import type { ApiClient } from '../client/api-client.ts';
import { eventsAt } from '../client/event-stream.ts';

const runEvents: ReadonlySet<string> = new Set(['run']);

/**
 * What is told of runs, whatever becomes of the connections: one that breaks is made again from the last event on. Ends when the
 * server says so or the signal is raised; throws an ApiError that no other attempt would change.
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
