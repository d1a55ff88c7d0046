import { streams } from '@millrace/sdk';
import { requireAttempt } from './attempt.ts';

/** The chunks of a stream of the current run, as a stream that is also async iterable. */
export function readStream(key: string, signal?: AbortSignal): ReadableStream<unknown> {
  const { scope } = requireAttempt('fetchStream');
  return ReadableStream.from(streams.read(scope.run, key, signal ? { signal } : {}));
}
