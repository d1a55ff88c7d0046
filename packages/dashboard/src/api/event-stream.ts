import { ApiError } from './api-error.ts';
import { headersOf, requestOf, send, type CallOptions } from './client.ts';
import type { Given, OperationName } from './operation-types.ts';

export interface SentEvent {
  readonly event: string;
  readonly id: string;
  readonly data: string;
}

/** Reads the lines of an event stream. A part of a line is kept until the rest comes. */
export class EventParser {
  #rest = '';
  #event = '';
  #id = '';
  #data: string[] = [];

  push(text: string): SentEvent[] {
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    const events: SentEvent[] = [];
    for (const line of lines) {
      if (line === '') {
        if (this.#data.length > 0)
          events.push({ event: this.#event || 'message', id: this.#id, data: this.#data.join('\n') });
        this.#event = '';
        this.#data = [];
        continue;
      }
      const colon = line.indexOf(':');
      const field = colon === -1 ? line : line.slice(0, colon);
      const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
      if (field === 'event') this.#event = value;
      else if (field === 'id') this.#id = value;
      else if (field === 'data') this.#data.push(value);
    }
    return events;
  }
}

const silentMs = 30_000;
const maxDelayMs = 10_000;

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });

/**
 * Reads a stream of server-sent events until the server ends it or the signal is raised. A connection that breaks is made again from the last
 * event on. (An `EventSource` cannot send the headers that the session needs.)
 */
export async function follow<N extends OperationName>(
  name: N,
  given: Given<N>,
  { environment, signal }: CallOptions & { readonly signal: AbortSignal },
  onEvent: (event: SentEvent) => void,
): Promise<void> {
  let last = '';
  let delay = 500;
  while (!signal.aborted) {
    const connection = new AbortController();
    const abort = (): void => connection.abort();
    signal.addEventListener('abort', abort);
    let timer = setTimeout(abort, silentMs);
    try {
      const response = await send(requestOf(name, given).path, {
        headers: {
          ...headersOf(environment),
          accept: 'text/event-stream',
          ...(last !== '' && { 'last-event-id': last }),
        },
        signal: connection.signal,
      });
      const parser = new EventParser();
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const part = await reader?.read();
        if (!part || part.done) break;
        clearTimeout(timer);
        timer = setTimeout(abort, silentMs);
        for (const event of parser.push(part.value)) {
          delay = 500;
          if (event.event === 'end') return;
          if (event.id !== '') last = event.id;
          onEvent(event);
        }
      }
    } catch (error) {
      const isFinal = error instanceof ApiError && !error.isOutage && error.status !== 429;
      if (isFinal) throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      connection.abort();
    }
    await pause(delay * (0.5 + Math.random() / 2), signal);
    delay = Math.min(maxDelayMs, delay * 2);
  }
}
