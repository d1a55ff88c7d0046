import { logger } from '../logger/logger.ts';
import type { Failure } from './api-error.ts';
import type { ResolvedSettings } from './settings.ts';

/** An outage affects many calls, so one line a minute is enough. */
const quietMs = 60_000;
const announcedAt = new Map<string, number>();

/** Writes one line per server and minute to the log: the calls of this program are waiting for it. */
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
