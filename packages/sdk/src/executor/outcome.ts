import type { Outcome, SerializedError } from '@millrace/contract/runner';
import { encode, encodeLossily } from '../payload/encode.ts';
import type { UnserializableError } from '../payload/unserializable-error.ts';
import type { AbortReason } from './execute-options.ts';
import { internalError } from './serialize-error.ts';

/** Maximum output size in bytes: 10 MiB. */
export const outputLimit = 10 * 1024 * 1024;

export const failed = (error: SerializedError): Outcome => ({ kind: 'failed', status: 'FAILED', error });

/** The outcome of an aborted attempt. Undefined if the signal was not aborted, or for another reason. */
export function abortedOutcome(signal: AbortSignal): Outcome | undefined {
  const reason = signal.aborted ? (signal.reason as Partial<AbortReason> | undefined) : undefined;
  if (reason?.kind === 'canceled' || reason?.kind === 'settled') return { kind: 'canceled' };
  if (reason?.kind !== 'maxDuration') return undefined;
  const message = `The attempt took longer than its maxDuration of ${reason.seconds} s`;
  return { kind: 'failed', status: 'TIMED_OUT', error: internalError('MaxDurationExceeded', message) };
}

export function completed(value: unknown, isLossy = false): Outcome {
  try {
    const { text, type } = isLossy ? encodeLossily(value, 'output') : encode(value, 'output');
    const bytes = text === undefined ? 0 : Buffer.byteLength(text);
    if (bytes <= outputLimit) return { kind: 'completed', output: text ?? null, outputType: type };
    const message = `The output has ${bytes} bytes; at most ${outputLimit} are stored. Store it elsewhere and return a reference.`;
    return failed(internalError('OutputTooLargeError', message));
  } catch (error) {
    // Not retried, because the work is done and another attempt would fail here again.
    const { message } = error as UnserializableError;
    return failed(internalError('OutputUnserializableError', message));
  }
}
