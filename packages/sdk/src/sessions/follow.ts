import { failureIn } from '@millrace/contract/plain';
import type { ApiClient } from '../client/api-client.ts';
import { errorOf } from '../client/api-error.ts';
import { headersOf } from '../client/exchange.ts';
import { accessTokenOf, type ResolvedSettings } from '../client/settings.ts';
import { pathOf } from '../client/path.ts';
import { sentEvents } from './event-source.ts';

/** A record of a channel, as it was appended. */
export interface ChannelRecord {
  /** Its number, from 0 on. */
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly body: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

export interface FollowOptions {
  /** The number of the last record that is known; what comes after it is read. Default: everything. */
  readonly lastEventId?: number | undefined;
  /** How long to wait for more before it ends, in seconds, 1 to 600. Default 60. */
  readonly timeoutInSeconds?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const final = new Set([400, 401, 403, 404, 409, 410, 422]);
const firstDelayMs = 100;
const maxDelayMs = 5_000;
/** Pings come every five seconds. A connection that is silent for this long is dead. */
const silentMs = 30_000;

/**
 * The records of a channel, each once and in order. A broken connection is resumed after the last record. Ends if no record came within
 * the time limit; throws an ApiError that a retry would not change.
 */
export function followChannel(
  client: ApiClient,
  operation: 'subscribeToSessionIn' | 'subscribeToSessionOut',
  session: string,
  options: FollowOptions,
): AsyncGenerator<ChannelRecord> {
  return followRecords(client, pathOf(operation, { session }), options);
}

/** The same of the channel at a path. */
export async function* followRecords(
  { settings }: ApiClient,
  path: string,
  { lastEventId, timeoutInSeconds, signal }: FollowOptions,
): AsyncGenerator<ChannelRecord> {
  const url = settings.baseURL + path;
  let last = lastEventId;
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
      const response = await fetch(url, {
        headers: {
          ...headersOf(settings, accessToken, 'GET'),
          accept: 'text/event-stream',
          ...(last !== undefined && { 'last-event-id': String(last) }),
          ...(timeoutInSeconds !== undefined && { 'timeout-seconds': String(timeoutInSeconds) }),
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
      for await (const { event, data } of sentEvents(response.body, heard)) {
        delay = firstDelayMs;
        if (data === '[DONE]') return;
        if (event !== 'batch') continue;
        for (const record of readBatch(data)) {
          if (last !== undefined && record.seq <= last) continue;
          last = record.seq;
          // A slow reader is not a silent server.
          clearTimeout(alarm);
          yield record;
          heard();
        }
      }
      // The connection broke without an end marker.
    } catch (error) {
      if (error instanceof Final) throw error.reason;
    } finally {
      clearTimeout(alarm);
      signal?.removeEventListener('abort', abort);
      connection.abort();
    }
    await pause(delay * (0.5 + Math.random() / 2), signal);
    delay = Math.min(maxDelayMs, delay * 2);
  }
}

/** Requested for each connection, because a run's credential may expire sooner. */
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

function readBatch(data: string): ChannelRecord[] {
  const { records } = JSON.parse(data) as {
    records: { seq_num: number; timestamp: number; body: string; headers?: ChannelRecord['headers'] }[];
  };
  return records.map(({ seq_num: seq, timestamp: at, body, headers = [] }) => ({ seq, at, body, headers }));
}

/** Sleeps, or returns early on abort. */
export const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    }
    signal?.addEventListener('abort', done);
  });
