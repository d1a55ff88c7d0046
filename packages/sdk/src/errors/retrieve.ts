import { currentClient } from '../client/current-client.ts';
import { errorId, fromWire, type ErrorGroupDetail, type ErrorReference } from './error-group.ts';

/**
 * One error group with its state. Throws a NotFoundError for an unknown one.
 *
 * @example
 * const { status, affectedVersions } = await errors.retrieve('error_0123456789abcdef');
 */
export async function retrieve(error: ErrorReference): Promise<ErrorGroupDetail> {
  return fromWire(await currentClient().call('retrieveError', { params: { errorId: errorId(error) } }));
}
