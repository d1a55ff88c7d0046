import { describe, expect, test } from 'vitest';
import { searchJson } from './search.ts';

/** The paths that a search finds, and how often it could have been paused. */
function searched(value: unknown, text: string) {
  const search = searchJson(value, text);
  for (let pauses = 0; ; pauses++) {
    const step = search.next();
    if (step.done) return { found: step.value, pauses };
  }
}

describe('a search', () => {
  const value = { order: { items: Array.from({ length: 300 }, (_, sku) => ({ sku })), note: 'Fragile' } };

  test('finds names and values in any case, in order', () => {
    expect(searched(value, 'fragile').found).toEqual([['order', 'note']]);
    expect(searched(value, 'ORDER').found).toEqual([['order']]);
    expect(searched(value, '29').found.map((path) => path[2])).toEqual([
      29, 129, 229, 290, 291, 292, 293, 294, 295, 296, 297, 298, 299,
    ]);
    expect(searched('Fragile', 'fragile').found).toEqual([[]]);
    expect(searched(null, 'fragile').found).toEqual([]);
  });

  test('ends at 500 results, and can be paused', () => {
    const long = Array.from({ length: 100_000 }, (_, n) => ({ n }));
    expect(searched(long, '1').found).toHaveLength(500);
    const { found, pauses } = searched(long, 'nowhere');
    expect(found).toEqual([]);
    expect(pauses).toBeGreaterThan(100);
  });

  test('goes through deeply nested values', () => {
    let nested: unknown = 'needle';
    for (let depth = 0; depth < 20_000; depth++) nested = [nested];
    expect(searched(nested, 'needle').found[0]).toHaveLength(20_000);
  });
});
