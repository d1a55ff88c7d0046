import type { Settlement } from '@millrace/contract/runner';

/** Approximate number of characters of an outcome. */
export const lengthOf = ({ outcome }: Settlement): number => {
  if (outcome.kind === 'completed') return outcome.output?.length ?? 0;
  return 'error' in outcome ? JSON.stringify(outcome.error).length : 0;
};

/** Splits items into parts of limited length and number, in order; a long item is a separate part. */
export function cut<T>(
  items: readonly T[],
  length: (item: T) => number,
  maxLength: number,
  maxItems = Number.POSITIVE_INFINITY,
): T[][] {
  const parts: T[][] = [];
  let part: T[] = [];
  let total = 0;
  for (const item of items) {
    const own = length(item) + 200;
    if (part.length === maxItems || (part.length > 0 && total + own > maxLength)) {
      parts.push(part);
      part = [];
      total = 0;
    }
    part.push(item);
    total += own;
  }
  if (part.length > 0) parts.push(part);
  return parts;
}
