import type { SessionClosedError } from '../sessions/ended.ts';

/**
 * The reason why the run's session ended, if the thrown value reports that the session was closed while the code replied or waited, which
 * is not a failure of the code. Undefined for everything else, such as the end of another session that the code writes to.
 */
export function endOfSession(thrown: unknown, payload: unknown): string | undefined {
  try {
    // Compared by name, because a task's bundle may have another copy of this package.
    const { name, sessionId, message } = (thrown ?? {}) as Partial<SessionClosedError>;
    const served = (payload as { sessionId?: unknown } | null | undefined)?.sessionId;
    return name === 'SessionClosedError' && typeof sessionId === 'string' && sessionId === served
      ? message
      : undefined;
  } catch {
    // Anything can be thrown, even values that cannot be read.
    return undefined;
  }
}
