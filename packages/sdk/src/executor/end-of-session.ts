import type { SessionClosedError } from '../sessions/ended.ts';

/**
 * How the session ended that the run serves, if what was thrown says that: somebody closed it while the code answered or waited. That is no
 * failure of the code. Undefined for everything else, such as the end of another session that the code writes to.
 */
export function endOfSession(thrown: unknown, payload: unknown): string | undefined {
  try {
    // By name: a task's bundle may have another copy of this package.
    const { name, sessionId, message } = (thrown ?? {}) as Partial<SessionClosedError>;
    const served = (payload as { sessionId?: unknown } | null | undefined)?.sessionId;
    return name === 'SessionClosedError' && typeof sessionId === 'string' && sessionId === served
      ? message
      : undefined;
  } catch {
    // Anything can be thrown, also what cannot be read.
    return undefined;
  }
}
