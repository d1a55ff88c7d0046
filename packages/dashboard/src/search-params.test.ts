import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseSearch, stringifySearch } from './search-params.ts';

test('addresses stay readable', () => {
  expect(stringifySearch({ q: 'status:failed,crashed queue:task/mail', tab: undefined, open: '' })).toBe(
    '?q=status:failed,crashed+queue:task/mail',
  );
});

test('every filter survives a round trip through the address', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (q) => {
      expect(parseSearch(stringifySearch({ q }))).toEqual({ q });
    }),
  );
});
