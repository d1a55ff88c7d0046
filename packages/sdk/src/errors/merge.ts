import type { ErrorFingerprint as WireFingerprint } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';
import { errorId, fromWire, type ErrorGroupDetail, type ErrorReference } from './error-group.ts';

/** One of the fingerprints whose errors a group holds. `count` is of all time. */
export type ErrorFingerprint = Omit<WireFingerprint, 'firstSeen' | 'lastSeen'> & {
  readonly firstSeen: Date;
  readonly lastSeen: Date;
};

/**
 * The fingerprints whose errors a group holds, its own first: one, unless groups were merged. Throws a NotFoundError for an
 * unknown group.
 *
 * @example
 * const [own, ...merged] = await errors.fingerprints('error_0123456789abcdef');
 */
export async function fingerprints(error: ErrorReference): Promise<ErrorFingerprint[]> {
  const params = { errorId: errorId(error) };
  const { data } = await currentClient().call('listErrorFingerprints', { params });
  return data.map((one) => ({
    ...one,
    firstSeen: new Date(one.firstSeen),
    lastSeen: new Date(one.lastSeen),
  }));
}

/**
 * Merges other groups of the same task into one, with all their errors to come, and returns it. Their ids lead to it from then on.
 * It keeps its state. Throws a NotFoundError for an unknown group, an UnprocessableEntityError for groups of several tasks.
 *
 * @example
 * await errors.merge('error_0123456789abcdef', ['error_00112233aabbccdd']);
 */
export async function merge(
  into: ErrorReference,
  others: readonly ErrorReference[],
): Promise<ErrorGroupDetail> {
  const params = { errorId: errorId(into) };
  const body = { errors: others.map(errorId) };
  return fromWire(await currentClient().call('mergeErrors', { params, body }));
}

/**
 * Moves fingerprints, with all their errors so far and to come, out of a group into one of their own, which is returned; in the
 * state of the group that they come from. The group's own fingerprint stays. Throws a NotFoundError for an unknown group or
 * fingerprint, an UnprocessableEntityError for the group's own.
 *
 * @example
 * const [, merged] = await errors.fingerprints(group);
 * await errors.split(group, [merged.fingerprint]);
 */
export async function split(
  error: ErrorReference,
  fingerprintsToMove: readonly string[],
): Promise<ErrorGroupDetail> {
  const params = { errorId: errorId(error) };
  const body = { fingerprints: [...fingerprintsToMove] };
  return fromWire(await currentClient().call('splitError', { params, body }));
}
