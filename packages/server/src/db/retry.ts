import { DatabaseLost } from './connect.ts';

const maxTries = 20;

/** It met another transaction; nothing of it remains, and it may go again. */
export const isDeadlock = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '40P01';

/**
 * Whether the same may be written later: PostgreSQL is away, it met another transaction, or what lacks is space, memory, time, or a database
 * that is not read-only, as a standby is until it takes over.
 */
export const mayPass = (error: unknown): boolean =>
  error instanceof DatabaseLost ||
  (error instanceof Error && 'code' in error && /^(?:40|53|57|58|55P03|25006)/.test(String(error.code)));

/** Acts, and again when it lost a deadlock: who loses one leaves nothing behind. For acts that take locks out of the order of others. */
export async function retryOnDeadlock<T>(act: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await act();
    } catch (error) {
      if (!isDeadlock(error) || tries === maxTries) throw error;
    }
  }
}
