import { parseInstant } from '../duration.ts';
import { CronError, quote } from './cron-error.ts';
import { nextRuns } from './next.ts';
import { parseCron } from './parse.ts';

/** A preview request. Unchecked input: each field is validated by {@link previewRuns}. */
export interface PreviewRequest {
  /** The cron expression. */
  readonly pattern: string;
  /** IANA time zone. Default: `UTC`. */
  readonly tz?: string;
  /** ISO date with its offset (`2026-01-15T12:00:00Z`), or a plain date (midnight UTC); runs are strictly after it. */
  readonly from: string;
  /** Number of runs, 0 to 100,000. */
  readonly n: number;
}

const MAX = 100_000;

/**
 * The next `n` runs of a cron expression as ISO instants (UTC), or `{ error }` for invalid input. Never throws, and needs no server. For
 * dates that never occur, the list is empty.
 *
 * @example
 * previewRuns({ pattern: '0 9 * * *', tz: 'Europe/Paris', from: '2026-01-15T12:00:00Z', n: 2 });
 * // ['2026-01-16T08:00:00.000Z', '2026-01-17T08:00:00.000Z']
 * previewRuns({ pattern: '60 * * * *', from: '2026-01-15T12:00:00Z', n: 2 });
 * // { error: 'Invalid cron expression: 60 is out of range in the minute field; write 0-59.' }
 */
export function previewRuns(request: unknown): string[] | { error: string } {
  try {
    const { pattern, tz, from, n } = checked(request);
    return nextRuns(parseCron(pattern), tz, readInstant(from), n).map((run) => run.toISOString());
  } catch (error) {
    if (error instanceof CronError) return { error: error.message };
    throw error;
  }
}

function checked(request: unknown): Required<PreviewRequest> {
  if (typeof request !== 'object' || request === null || Array.isArray(request)) {
    throw new CronError('Invalid request: write an object with pattern, tz, from and n.');
  }
  const { pattern, tz = 'UTC', from, n }: { [K in keyof PreviewRequest]?: unknown } = request;
  if (typeof pattern !== 'string')
    throw new CronError("Invalid pattern: write a cron expression as a string, such as '0 9 * * *'.");
  if (typeof tz !== 'string')
    throw new CronError("Invalid tz: write an IANA time zone as a string, such as 'Europe/Paris'.");
  if (typeof from !== 'string')
    throw new CronError("Invalid from: write an ISO date as a string, such as '2026-01-15T12:00:00Z'.");
  if (typeof n !== 'number' || !Number.isInteger(n) || n < 0 || n > MAX) {
    throw new CronError(`Invalid n: write a whole number from 0 to ${MAX}.`);
  }
  return { pattern, tz, from, n };
}

/** A time without an offset would mean a different instant on every machine, so it is rejected. */
function readInstant(text: string): Date {
  const date = /T.*\d$/.test(text) && !/[+-]\d\d:?\d\d$/.test(text) ? undefined : parseInstant(text);
  if (date !== undefined) return date;
  throw new CronError(
    `Invalid from: ${quote(text)}. Write an ISO date with Z or an offset, such as '2026-01-15T12:00:00Z'.`,
  );
}
