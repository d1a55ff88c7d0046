import { logger } from '../logger/logger.ts';
import type { Failure } from './api-error.ts';
import type { ResolvedSettings } from './settings.ts';

/** An outage affects many calls, so one line per minute is enough. */
const quietMs = 60_000;
const announcedAt = new Map<string, number>();

/** Writes one log line per server and minute, stating that the calls of this program are waiting for it. */
export function announceOutage(
  { baseURL, retry: { maxOutageInMs } }: Pick<ResolvedSettings, 'baseURL' | 'retry'>,
  failure: Failure,
  now = Date.now(),
): void {
  if (now - (announcedAt.get(baseURL) ?? Number.NEGATIVE_INFINITY) < quietMs) return;
  announcedAt.set(baseURL, now);
  const reason = failure.status ?? (failure.cause instanceof Error && failure.cause.message);
  const duration = Number.isFinite(maxOutageInMs) ? ` for up to ${maxOutageInMs / 1_000} s` : '';
  logger.warn(`Millrace at ${baseURL} is unavailable (${reason || 'no response'}); retrying${duration}.`);
}
