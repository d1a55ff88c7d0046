import { Problem } from '../problem.ts';
import type { SessionRow } from './row.ts';

/** Throws unless the session is neither closed nor expired. */
export function requireActive(row: SessionRow, now: number, status: 400 | 409): void {
  if (row.closed_at)
    throw new Problem(
      'session_closed',
      'Session is closed. Start one with another externalId.',
      {},
      false,
      status,
    );
  if (row.expires_at && row.expires_at.getTime() <= now)
    throw new Problem(
      'session_expired',
      'Session is expired. Start one with another externalId.',
      {},
      false,
      status,
    );
}
