import type { ApiClient } from '../client/api-client.ts';
import { NotFoundError } from '../client/api-error.ts';

/**
 * The session accepts no more messages: it was closed or has expired, as `message` states. If a run that serves the session does not catch this
 * error, the run still ends as COMPLETED.
 */
export class SessionClosedError extends Error {
  override readonly name = 'SessionClosedError';
  /** The id of the session, `session_…`. */
  readonly sessionId: string;

  constructor(message: string, sessionId: string) {
    super(message);
    this.sessionId = sessionId;
  }
}

/** The reason why a session accepts no more messages. Undefined while it does, and if it does not exist yet. */
export async function whyEnded(client: ApiClient, session: string): Promise<SessionClosedError | undefined> {
  const state = await client
    .callWithHeaders('retrieveSession', { params: { session } })
    .catch((error: unknown) => {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    });
  if (!state) return undefined;
  const { id, closedAt, closedReason, expiresAt } = state.reply;
  if (closedAt !== null) {
    const reason = closedReason === null ? '' : `: ${closedReason}`;
    return new SessionClosedError(`The session ${session} was closed at ${closedAt}${reason}`, id);
  }
  if (expiresAt === null || Date.parse(expiresAt) > serverTime(state.header('date'))) return undefined;
  return new SessionClosedError(`The session ${session} has expired at ${expiresAt}`, id);
}

/** Compares with the server's clock, which is in whole seconds, rounded down. */
const serverTime = (date: string | undefined): number => {
  const time = date === undefined ? Number.NaN : Date.parse(date) + 999;
  return Number.isNaN(time) ? Date.now() : time;
};
