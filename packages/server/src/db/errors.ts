/** Database failures, in the database's own terms. `problem.ts` converts them for clients. */

/** PostgreSQL is unavailable. Whether the statement took effect is unknown. */
export class DatabaseLost extends Error {
  override name = 'DatabaseLost';

  constructor(cause: unknown) {
    super('The database is unavailable. Try again.', { cause });
  }
}

/** The database cannot be used. The message contains the reason and the fix. */
export class DatabaseRefused extends Error {
  override name = 'DatabaseRefused';
}

/** Whether PostgreSQL rejected a text with a NUL character, or JSON with a lone surrogate. */
export function isUnstorableText(error: unknown): boolean {
  const code = codeOf(error);
  if (error instanceof UnstorableText || code === '22021' || code === '22P05') return true;
  // The server writes all JSON for PostgreSQL itself, so only the content of a string can be invalid.
  const { detail } = Object(error) as { detail?: unknown };
  return code === '22P02' && typeof detail === 'string' && detail.includes('surrogate');
}

/** A text has a character that PostgreSQL does not store. */
export class UnstorableText extends Error {
  override name = 'UnstorableText';

  constructor(cause: unknown) {
    super('The request contains a character that cannot be stored (U+0000).', { cause });
  }
}

/** Rejects with `DatabaseLost` if the connection failed, and otherwise like `work`. */
export async function detectLoss<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw isLoss(error) ? new DatabaseLost(error) : error;
  }
}

/** PostgreSQL's own errors have a severity. All others are connection errors, as are the codes with which PostgreSQL ends a connection. */
function isLoss(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return !('severity' in error) || /^(08|57P0|53300)/.test(codeOf(error));
}

/** The SQLSTATE of an error; empty if it has none. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** PostgreSQL rolled the transaction back because of a concurrent one: a deadlock, or a serialization failure. It may be run again. */
export const isConflict = (error: unknown): boolean => ['40P01', '40001'].includes(codeOf(error));

/**
 * Whether the same write may succeed later: PostgreSQL is unavailable, the write conflicted with another transaction, or PostgreSQL lacks
 * space, memory or time, or is read-only, like a standby before a failover.
 */
export const isTransient = (error: unknown): boolean =>
  error instanceof DatabaseLost || /^(?:40|53|57|58|55P03|25006)/.test(codeOf(error));

/** Data exceptions, violated constraints, exceeded limits, and errors raised by Millrace's functions. */
const dataErrors = /^(?:2[23]|54|P0)/;

/** Whether a write failed because of its data. Another attempt would fail again, and the cause is not another item in the same write. */
export function isDataError(error: unknown): boolean {
  // The driver could not encode a value, such as a date that is out of range, and sent nothing.
  if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError) return true;
  return dataErrors.test(codeOf(error));
}

/** The message of `hold_versions` if a run's version was archived while the run was created. */
export const archivedVersionMessage = (error: unknown): string | undefined =>
  error instanceof Error && codeOf(error) === 'P0V01' ? error.message : undefined;
