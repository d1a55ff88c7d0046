import { isDataError } from './errors.ts';

/**
 * Processes all due items with one write. If their data make that write fail, each item is processed separately, so that a bad one does not
 * delay the others. `next` processes the item that is due first and returns whether there was one. Resolves with their number.
 */
export async function togetherOrAlone(
  together: () => Promise<number>,
  next: () => Promise<boolean>,
  max: number,
): Promise<number> {
  try {
    return await together();
  } catch (error) {
    if (!isDataError(error)) throw error;
  }
  let count = 0;
  while (count < max && (await next())) count++;
  return count;
}
