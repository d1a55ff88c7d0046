import { currentClient } from '../client/current-client.ts';
import { fromWire, type SessionRuns, type StartedSession } from './session.ts';

export interface StartSessionOptions {
  /** A label of your choice, such as `chat.agent`; 1 to 64 characters. */
  type: string;
  /** The task whose runs serve the session. */
  taskIdentifier: string;
  /** The payload and options of its runs. */
  triggerConfig: SessionRuns;
  /** Your own unique name for the session; 1 to 256 characters, not beginning with `session_`. */
  externalId?: string;
  /** At most 10. */
  tags?: string[];
  metadata?: Record<string, unknown>;
  /** When the session expires and accepts no more messages. */
  expiresAt?: Date | string;
}

/**
 * Starts a session and the run that serves it. If the external id exists, continues that session (`isCached`): its trigger config is replaced
 * and, if its run has ended, another one is started. Throws a ConflictError for a session that is closed or expired.
 *
 * @example
 * const { id, publicAccessToken } = await sessions.start({
 *   type: 'chat',
 *   externalId: chatId,
 *   taskIdentifier: 'chat',
 *   triggerConfig: { basePayload: { userId } },
 * });
 */
export async function start(options: StartSessionOptions): Promise<StartedSession> {
  const { expiresAt } = options;
  const body = { ...options, expiresAt: expiresAt instanceof Date ? expiresAt.toISOString() : expiresAt };
  return fromWire(await currentClient().call('createSession', { body }));
}
