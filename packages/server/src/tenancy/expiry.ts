import { parseTimeSpan } from '@millrace/contract';
import { badRequest, unprocessable } from '../problem.ts';

/** The expiry of a new credential; 422 unless it is in the future. */
export function readExpiry(text: string | undefined, now: number): Date | null {
  if (text === undefined) return null;
  const at = new Date(text);
  if (at.getTime() <= now) {
    throw unprocessable('expiresAt is in the past. Send a future date, or leave it out.');
  }
  return at;
}

const maxOverlapMs = 30 * 86_400_000;

/** How long an old key remains valid alongside the new one, in milliseconds. */
export function readOverlap(text = '24h'): number {
  const ms = parseTimeSpan(text);
  if (typeof ms !== 'number') throw badRequest(`overlap: ${ms.error}`);
  if (ms < 0 || ms > maxOverlapMs) {
    throw badRequest('overlap: must be a duration from 0s to 30 days');
  }
  return ms;
}
