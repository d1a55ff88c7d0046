import { isDataError } from './errors.ts';

/**
 * Processes everything that is due with one write. If its data make that write fail, each item is processed alone, so that a bad one holds
 * up none of the others. `next` processes the item that is due first and answers whether there was one. Resolves with their number.
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
