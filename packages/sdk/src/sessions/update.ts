import { currentClient } from '../client/current-client.ts';
import { fromWire, sessionAddress, type Session, type SessionReference } from './session.ts';

export interface UpdateSessionOptions {
  /** Replaces all tags. Default: unchanged. */
  tags?: string[];
  /** Replaces all metadata; null clears it. Default: unchanged. */
  metadata?: Record<string, unknown> | null;
}

/**
 * Replaces tags or metadata of a session, even a closed one. Requires a secret key.
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
