import { currentClient } from '../client/current-client.ts';
import { errorId, fromWire, type ErrorGroupDetail, type ErrorReference } from './error-group.ts';

/** Options for resolving an error group. */
export interface ResolveOptions {
  /** The worker version that has the fix: failures of older versions do not reopen the group. 1 to 128 characters. */
  resolvedInVersion?: string;
}

/**
 * Marks an error group as resolved and returns it. It reopens automatically when the error recurs. Throws a NotFoundError for an unknown group.
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
