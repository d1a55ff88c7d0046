import { currentClient } from '../client/current-client.ts';
import { fromWire, sessionAddress, type Session, type SessionReference } from './session.ts';

export interface UpdateSessionOptions {
  /** All of them; left out, they stay. */
  tags?: string[];
  /** All of it; null clears it, left out, it stays. */
  metadata?: Record<string, unknown> | null;
}

/**
 * Replaces tags or metadata of a session, also of a closed one. Needs a secret key.
 *
 * @example
 * await sessions.update('chat-1', { tags: ['archived'] });
 */
export const update = async (session: SessionReference, options: UpdateSessionOptions): Promise<Session> =>
  fromWire(
    await currentClient().call('updateSession', {
      params: { session: sessionAddress(session) },
      body: options,
    }),
  );
