import { readStreamThrough } from '@millrace/sdk/frontend';
import { useConnection, useLatest } from './connection.ts';
import { throttleOf, type SubscribeHookOptions } from './options.ts';
import { useSubscription } from './subscription.ts';

export interface UseRealtimeStreamOptions<TPart = unknown> extends SubscribeHookOptions {
  /** Seconds to wait for more chunks before reading ends, 1 to 600. Default 60. */
  timeoutInSeconds?: number | undefined;
  /** The number of the first chunk, counted from 0. Default 0. */
  startIndex?: number | undefined;
  /** Reading starts after this chunk: the `lastEventId` of an earlier page. Takes precedence over `startIndex` and `from`. */
  lastEventId?: string | number | undefined;
  /** `latest` skips the chunks that exist already. Default `beginning`. */
  from?: 'beginning' | 'latest' | undefined;
  /** The number of newest chunks that `parts` retains. Default: all. */
  maxParts?: number | undefined;
  /** Called for each chunk. */
  onData?: ((chunk: TPart) => void) | undefined;
}

export interface RealtimeStream<TPart = unknown> {
  /** The chunks, in order. */
  readonly parts: TPart[];
  /** The position of the last chunk. Pass it as option to resume after a page was reloaded. */
  readonly lastEventId: string | undefined;
  /** Why reading ended before the end of the stream. Never thrown. */
  readonly error: Error | undefined;
  /** Stops reading. */
  readonly stop: () => void;
}

/** A stream that is declared with the type of its chunks, such as by `streams.define` of the published SDK. */
export interface DefinedStream<TPart> {
  readonly id: string;
  append(chunk: TPart): unknown;
}

interface Value {
  readonly parts: unknown[];
  readonly last?: number;
}

const nothing: Value = { parts: [] };

/** The name of the stream if none is given. */
const defaultStream = 'default';

/**
 * Reads a stream of a run.
 *
 * @example
 * const { parts, error } = useRealtimeStream<string>(runId, 'answer', { accessToken });
 * return <p>{parts.join('')}</p>;
 */
export function useRealtimeStream<TPart>(
  stream: DefinedStream<TPart>,
  runId: string | undefined,
  options?: UseRealtimeStreamOptions<TPart>,
): RealtimeStream<TPart>;
export function useRealtimeStream<TPart>(
  runId: string | undefined,
  stream: string,
  options?: UseRealtimeStreamOptions<TPart>,
): RealtimeStream<TPart>;
export function useRealtimeStream<TPart>(
  runId: string | undefined,
  options?: UseRealtimeStreamOptions<TPart>,
): RealtimeStream<TPart>;
export function useRealtimeStream(
  first: DefinedStream<unknown> | string | undefined,
  second?: UseRealtimeStreamOptions | string,
  third?: UseRealtimeStreamOptions,
): RealtimeStream {
  const isDefined = typeof first === 'object';
  const named = typeof second === 'string' ? second : undefined;
  const id = isDefined ? named : first;
  const name = isDefined ? first.id : (named ?? defaultStream);
  return useStream(id, name, (typeof second === 'object' ? second : third) ?? {});
}

function useStream(id: string | undefined, name: string, options: UseRealtimeStreamOptions): RealtimeStream {
  const latest = useLatest(options);
  const { value, error, stop } = useSubscription<Value>({
    subject: id ? JSON.stringify([id, name]) : undefined,
    enabled: options.enabled,
    connection: useConnection(options),
    initial: nothing,
    throttleInMs: throttleOf(options),
    async follow({ client, signal, begin, update }) {
      const { timeoutInSeconds, from } = latest.current;
      const parts = [...begin.parts];
      const read = readStreamThrough(client, id ?? '', name, {
        lastEventId: begin.last ?? positionOf(latest.current),
        startsLatest: from === 'latest',
        timeoutInSeconds,
        signal,
      });
      for await (const { seq, chunk } of read) {
        const { maxParts = Infinity, onData } = latest.current;
        parts.push(chunk);
        if (parts.length > maxParts) parts.shift();
        update(() => ({ parts: [...parts], last: seq }));
        onData?.(chunk);
      }
    },
  });
  return { parts: value.parts, lastEventId: value.last?.toString(), error, stop };
}

/** The position after which reading starts. Undefined: `from` applies. */
function positionOf({ lastEventId, startIndex }: UseRealtimeStreamOptions): number | undefined {
  if (lastEventId !== undefined) return Number(lastEventId);
  return startIndex ? startIndex - 1 : undefined;
}
