import { currentClient } from '../client/current-client.ts';
import { fromWire, sessionAddress, type Session, type SessionReference } from './session.ts';

/**
 * Closes a session permanently: nothing more can be appended to it. Its run continues. Closing it again has no effect. Requires a secret key.
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
