import { currentClient } from '../client/current-client.ts';
import { fromWire, sessionAddress, type Session, type SessionReference } from './session.ts';

/**
 * Closes a session for good: nothing is appended to it any more. Its run goes on. A second close changes nothing. Needs a secret key.
 *
 * @example
 * await sessions.close('chat-1', { reason: 'done' });
 */
export const close = async (
  session: SessionReference,
  { reason }: { reason?: string } = {},
): Promise<Session> =>
  fromWire(
    await currentClient().call('closeSession', {
      params: { session: sessionAddress(session) },
      body: { reason },
    }),
  );
