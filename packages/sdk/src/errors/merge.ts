import type { ErrorFingerprint as WireFingerprint } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';
import { errorId, fromWire, type ErrorGroupDetail, type ErrorReference } from './error-group.ts';

/** One of the fingerprints in a group. `count` covers all time. */
export type ErrorFingerprint = Omit<WireFingerprint, 'firstSeen' | 'lastSeen'> & {
  readonly firstSeen: Date;
  readonly lastSeen: Date;
};

/**
 * The fingerprints in a group, its own first. There is only one, unless groups were merged. Throws a NotFoundError for an unknown group.
 *
 * @example
 * const [own, ...merged] = await errors.fingerprints('error_0123456789abcdef');
 */
export async function fingerprints(error: ErrorReference): Promise<ErrorFingerprint[]> {
  const params = { errorId: errorId(error) };
  const { data } = await currentClient().call('listErrorFingerprints', { params });
  return data.map((item) => ({
    ...item,
    firstSeen: new Date(item.firstSeen),
    lastSeen: new Date(item.lastSeen),
  }));
}

/**
 * Merges other groups of the same task, including their future errors, into one, and returns it. The ids of the merged groups then refer to it.
 * Its state does not change. Throws a NotFoundError for an unknown group, and an UnprocessableEntityError for groups of several tasks.
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
 * Moves fingerprints, with their past and future errors, from a group into a new one, which is returned and has the same state. The group's own
 * fingerprint cannot be moved. Throws a NotFoundError for an unknown group or fingerprint, and an UnprocessableEntityError for the group's own.
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
