import type { ApiClient } from '../client/api-client.ts';
import { eventsAt } from '../client/event-stream.ts';
import { pathOf } from '../client/path.ts';

/** A record of a channel in its appended form. */
export interface ChannelRecord {
  /** Its sequence number, starting at 0. */
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly body: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

export interface FollowOptions {
  /** The sequence number of the last known record; reading starts after it. Default: all records. */
  readonly lastEventId?: number | undefined;
  /** Without `lastEventId`: begins with new records instead of the first. */
  readonly startsLatest?: boolean | undefined;
  /** Seconds to wait for more records before the iteration ends, 1 to 600. Default 60. */
  readonly timeoutInSeconds?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The records of a channel, each once and in order. A broken connection resumes after the last record. Ends if no record arrived within the
 * time limit. Throws an ApiError for a permanent failure.
 */
export function followChannel(
  client: ApiClient,
  operation: 'subscribeToSessionIn' | 'subscribeToSessionOut',
  session: string,
  options: FollowOptions,
): AsyncGenerator<ChannelRecord> {
  return followRecords(client, pathOf(operation, { session }), options);
}

/** The same for the channel at a path. */
export async function* followRecords(
  client: ApiClient,
  path: string,
  { lastEventId, startsLatest, timeoutInSeconds, signal }: FollowOptions,
): AsyncGenerator<ChannelRecord> {
  let last = lastEventId;
  const position = (): Record<string, string> => ({
    ...(last !== undefined && { 'last-event-id': String(last) }),
    ...(last === undefined && startsLatest && { 'x-trigger-stream-start': 'latest' }),
    ...(timeoutInSeconds !== undefined && { 'timeout-seconds': String(timeoutInSeconds) }),
  });
  for await (const { event, data } of eventsAt(client, path, signal, position)) {
    if (data === '[DONE]') return;
    if (event !== 'batch') continue;
    for (const record of readBatch(data)) {
      if (last !== undefined && record.seq <= last) continue;
      last = record.seq;
      yield record;
    }
  }
}

function readBatch(data: string): ChannelRecord[] {
  const { records } = JSON.parse(data) as {
    records: { seq_num: number; timestamp: number; body: string; headers?: ChannelRecord['headers'] }[];
  };
  return records.map(({ seq_num: seq, timestamp: at, body, headers = [] }) => ({ seq, at, body, headers }));
}
