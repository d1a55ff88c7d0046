import { followEvents, type SentEvent } from '@millrace/contract/event-stream';
import { ApiError } from './api-error.ts';
import { headersOf, requestOf, send, type CallOptions } from './client.ts';
import type { InputOf, OperationName } from './operation-types.ts';

/** Reads a stream of server-sent events until the server ends it or the signal is aborted. A broken connection resumes after the last event. */
export async function follow<N extends OperationName>(
  name: N,
  input: InputOf<N>,
  { environment, signal }: CallOptions & { readonly signal: AbortSignal },
  onEvent: (event: SentEvent) => void,
): Promise<void> {
  let last = '';
  const connect = async (connection: AbortSignal) => {
    const headers = {
      ...headersOf(environment),
      accept: 'text/event-stream',
      ...(last !== '' && { 'last-event-id': last }),
    };
    const response = await send(requestOf(name, input).path, { headers, signal: connection }).catch(
      (error: unknown) => {
        if (error instanceof ApiError && !error.isOutage && error.status !== 429) throw error;
      },
    );
    return response?.body;
  };
  for await (const event of followEvents({ connect, signal, firstDelayMs: 500, maxDelayMs: 10_000 })) {
    if (event.event === 'end') return;
    last = event.id || last;
    onEvent(event);
  }
}
