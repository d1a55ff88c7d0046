import { currentClient } from '../client/current-client.ts';
import { errorId, fromWire, type ErrorGroupDetail, type ErrorReference } from './error-group.ts';

/** When the ignore ends: at the first of these conditions. Without any, it never ends. */
export interface IgnoreOptions {
  /** Milliseconds from now: 1 to 315,576,000,000 (ten years). */
  duration?: number;
  /** Occurrences per minute, more than 0 and at most 1,000,000: the ignore ends when the rate is exceeded. */
  occurrenceRate?: number;
  /** Number of further occurrences, counted from now; at least 1. */
  totalOccurrences?: number;
  /** A note for others; at most 1,000 characters. */
  reason?: string;
}

/**
 * Ignores an error group, resolved or not, and returns it. Occurrences are still counted. Throws a NotFoundError for an unknown group, and a
 * BadRequestError whose `details` name an invalid option.
 *
 * @example
 * await errors.ignore('error_0123456789abcdef', { duration: 86_400_000, occurrenceRate: 5, reason: 'known' });
 */
export async function ignore(error: ErrorReference, options: IgnoreOptions = {}): Promise<ErrorGroupDetail> {
  const { duration, occurrenceRate, totalOccurrences, reason } = options;
  const body = { duration, occurrenceRate, totalOccurrences, reason };
  return fromWire(await currentClient().call('ignoreError', { params: { errorId: errorId(error) }, body }));
}

/**
 * Reverses a resolve or an ignore and returns the group. Throws a NotFoundError for an unknown group.
 *
 * @example
 * await errors.unresolve('error_0123456789abcdef');
 */
export async function unresolve(error: ErrorReference): Promise<ErrorGroupDetail> {
  return fromWire(await currentClient().call('unresolveError', { params: { errorId: errorId(error) } }));
}
