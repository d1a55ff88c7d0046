import { createParser } from 'eventsource-parser';

/** One server-sent event. */
export interface SentEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: string;
}

export interface EventConnection {
  /**
   * Opens the stream after the last event. Undefined means that the server is temporarily unavailable or busy; it is then called again.
   * Errors that it throws are permanent.
   */
  readonly connect: (signal: AbortSignal) => Promise<ReadableStream<Uint8Array> | null | undefined>;
  readonly signal: AbortSignal | undefined;
  /** The delay before the first attempt after an event. It doubles with each attempt. */
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
}

/** Pings arrive every five seconds. A connection that is silent for this long is considered dead. */
const silentMs = 30_000;

/**
 * The events of a stream across reconnections. Ends when the signal is aborted; the reader stops when the server marks an event as the last.
 * (An `EventSource` cannot send headers.)
 */
export async function* followEvents({
  connect,
  signal,
  firstDelayMs,
  maxDelayMs,
}: EventConnection): AsyncGenerator<SentEvent, void, undefined> {
  let delayMs = firstDelayMs;
  while (!signal?.aborted) {
    const connection = new AbortController();
    const abort = (): void => connection.abort();
    signal?.addEventListener('abort', abort);
    let alarm: ReturnType<typeof setTimeout> | undefined;
    const resetTimeout = (): void => {
      clearTimeout(alarm);
      alarm = setTimeout(abort, silentMs);
    };
    try {
      resetTimeout();
      const body = await connect(connection.signal);
      for await (const event of body ? eventsOf(body, resetTimeout) : []) {
        delayMs = firstDelayMs;
        // A slow reader does not mean that the server is silent.
        clearTimeout(alarm);
        yield event;
        resetTimeout();
      }
    } finally {
      clearTimeout(alarm);
      signal?.removeEventListener('abort', abort);
      connection.abort();
    }
    await pause(delayMs * (0.5 + Math.random() / 2), signal);
    delayMs = Math.min(maxDelayMs, delayMs * 2);
  }
}

/** Ends when the stream ends or breaks. An incomplete event is ignored. */
async function* eventsOf(
  body: ReadableStream<Uint8Array>,
  onActivity: () => void,
): AsyncGenerator<SentEvent, void, undefined> {
  const read: SentEvent[] = [];
  const parser = createParser({
    onEvent: ({ event = 'message', id, data }) => void read.push({ event, id, data }),
  });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  for (;;) {
    const part = await reader.read().catch(() => undefined);
    if (!part || part.done) return;
    onActivity();
    parser.feed(decoder.decode(part.value, { stream: true }));
    yield* read.splice(0);
  }
}

/** Waits, or returns as soon as the signal is aborted. */
const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done);
    if (signal?.aborted) done();
  });
