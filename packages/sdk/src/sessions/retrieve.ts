import { currentClient } from '../client/current-client.ts';
import { fromWire, sessionAddress, type Session, type SessionReference } from './session.ts';

/**
 * A session. Throws a NotFoundError for an unknown session.
 *
 * @example
 * const { currentRunId, closedAt } = await sessions.retrieve('chat-1');
 */
export const retrieve = async (session: SessionReference): Promise<Session> =>
  fromWire(await currentClient().call('retrieveSession', { params: { session: sessionAddress(session) } }));
