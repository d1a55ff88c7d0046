import { currentClient } from '../client/current-client.ts';
import { errorId, fromWire, type ErrorGroupDetail, type ErrorReference } from './error-group.ts';

/** With what an error group was resolved. */
export interface ResolveOptions {
  /** The worker version that has the fix: older versions that still fail do not reopen the group. 1 to 128 characters. */
  resolvedInVersion?: string;
}

/**
 * Marks an error group as resolved and returns it. It reopens by itself when the error comes back. Throws a NotFoundError for
 * an unknown one.
 *
 * @example
 * await errors.resolve('error_0123456789abcdef', { resolvedInVersion: '20261121.3' });
 */
export async function resolve(
  error: ErrorReference,
  options: ResolveOptions = {},
): Promise<ErrorGroupDetail> {
  const { resolvedInVersion } = options;
  const params = { errorId: errorId(error) };
  return fromWire(await currentClient().call('resolveError', { params, body: { resolvedInVersion } }));
}
