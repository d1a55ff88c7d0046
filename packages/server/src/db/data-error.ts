/** Data that do not fit, rules that they break, limits of what can be stored, and what a function of ours refuses. */
const refused = /^(?:2[23]|54|P0)/;

/**
 * Whether a write failed for what was to be written: to try it again is to fail again, and what was to be written beside it is not to
 * blame. False for everything that lies in the database or in what others do.
 */
export function isDataError(error: unknown): boolean {
  // What cannot even be written down, such as a date beyond all dates: PostgreSQL never heard of it.
  if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError) return true;
  return error instanceof Error && 'code' in error && refused.test(String(error.code));
}

/**
 * Deals with all that is due by one write. Where something odd makes it fail, each goes alone, so that it keeps none of the others: `next`
 * deals with the one that is due first and answers whether there was one. Replies how many it were.
 */
export async function togetherOrAlone(
  together: () => Promise<number>,
  next: () => Promise<boolean>,
  most: number,
): Promise<number> {
  try {
    return await together();
  } catch (error) {
    if (!isDataError(error)) throw error;
  }
  let count = 0;
  while (count < most && (await next())) count++;
  return count;
}
