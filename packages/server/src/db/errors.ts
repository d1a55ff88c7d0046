/** What can go wrong with a database, in its own terms. `problem.ts` says what of it a client is told. */

/** PostgreSQL is away. Whether the statement took effect is unknown. */
export class DatabaseLost extends Error {
  override name = 'DatabaseLost';

  constructor(cause: unknown) {
    super('The database is unavailable. Try again.', { cause });
  }
}

/** The database cannot be used. The message says why and what to do. */
export class DatabaseRefused extends Error {
  override name = 'DatabaseRefused';
}

/** Whether PostgreSQL refused a text with a NUL character, or JSON with half of a surrogate pair. */
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

/** Rejects with `DatabaseLost` where the connection failed, and as `work` does otherwise. */
export async function detectLoss<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw isLoss(error) ? new DatabaseLost(error) : error;
  }
}

/** Errors of PostgreSQL have a severity. All others are of the connection, and so are the codes with which PostgreSQL ends one. */
function isLoss(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return !('severity' in error) || /^(08|57P0|53300)/.test(codeOf(error));
}

/** The SQLSTATE of an error; empty where it has none. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** PostgreSQL rolled the transaction back because of a concurrent one: a deadlock, or a serialization failure. It may be run again. */
export const isConflict = (error: unknown): boolean => ['40P01', '40001'].includes(codeOf(error));

/**
 * Whether the same write may succeed later: PostgreSQL is away, the write conflicted with another transaction, or PostgreSQL lacks space,
 * memory or time, or is read-only, as a standby is until it takes over.
 */
export const isTransient = (error: unknown): boolean =>
  error instanceof DatabaseLost || /^(?:40|53|57|58|55P03|25006)/.test(codeOf(error));

/** Data exceptions, violated constraints, exceeded limits, and what a function of ours raises. */
const dataErrors = /^(?:2[23]|54|P0)/;

/** Whether a write failed because of its data. Trying it again fails again, and the items written beside it are not the cause. */
export function isDataError(error: unknown): boolean {
  // The driver could not encode a value, such as a date out of range, and sent nothing.
  if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError) return true;
  return dataErrors.test(codeOf(error));
}
