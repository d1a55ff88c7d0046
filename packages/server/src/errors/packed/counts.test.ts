import fc from 'fast-check';
import { expect, test } from 'vitest';
import { only, pack, sum, unpack, type Counts } from './counts.ts';
import { nextOf } from './next-of.ts';

const most = 2 ** 31 - 1;
const entries = fc.uniqueArray(
  fc.tuple(
    fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: most })),
    fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })),
  ),
  { selector: ([fingerprint]) => fingerprint, maxLength: 60 },
);
const countsOf = (from: readonly (readonly [number, number])[]): Counts => {
  const ordered = from.toSorted(([a], [b]) => a - b);
  return {
    fingerprints: Int32Array.from(ordered, ([fingerprint]) => fingerprint),
    counts: Float64Array.from(ordered, ([, count]) => count),
  };
};
const plain = ({ fingerprints, counts }: Counts): [number, number][] =>
  Array.from(fingerprints, (fingerprint, index) => [fingerprint, counts[index] as number]);

test('what is packed comes out again, up to the largest fingerprint and count', () => {
  fc.assert(
    fc.property(entries, (some) => {
      const counts = countsOf(some);
      expect(plain(unpack(pack(counts), some.length))).toEqual(plain(counts));
    }),
  );
});

test('counts are added and taken away fingerprint by fingerprint, and what is even is left out', () => {
  const small = entries.map((some) =>
    some.map(([fingerprint, count]) => [fingerprint, 1 + (count % 9)] as const),
  );
  fc.assert(
    fc.property(
      fc.array(fc.record({ of: small, sign: fc.constantFrom(1, -1) }), { maxLength: 6 }),
      (parts) => {
        const expected = new Map<number, number>();
        for (const { of, sign } of parts)
          for (const [fingerprint, count] of of)
            expected.set(fingerprint, (expected.get(fingerprint) ?? 0) + sign * count);
        expect(plain(sum(parts.map(({ of, sign }) => ({ ...countsOf(of), sign }))))).toEqual(
          [...expected].filter(([, count]) => count !== 0).toSorted(([x], [y]) => x - y),
        );
      },
    ),
  );
});

test('only those in a list are left', () => {
  fc.assert(
    fc.property(entries, fc.uniqueArray(fc.integer({ min: 1, max: 300 })), (some, list) => {
      const wanted = new Set(list);
      expect(plain(only(countsOf(some), Int32Array.from(list).toSorted()))).toEqual(
        plain(countsOf(some)).filter(([fingerprint]) => wanted.has(fingerprint)),
      );
    }),
  );
});

test('pages of any size lead through all counts in order, and back', () => {
  const some = fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 99 }), fc.integer({ min: 1, max: 4 })), {
    selector: ([fingerprint]) => fingerprint,
    maxLength: 40,
  });
  fc.assert(
    fc.property(some, fc.integer({ min: 1, max: 7 }), fc.boolean(), (list, size, backward) => {
      const order = list
        .toSorted(([a, x], [b, y]) => y - x || a - b)
        .map(([fingerprint, count]) => ({ fingerprint, count }));
      if (backward) order.reverse();
      const found = [];
      for (let page = nextOf(countsOf(list), undefined, backward, size); page.length > 0;) {
        found.push(...page);
        page = nextOf(countsOf(list), page.at(-1), backward, size);
      }
      expect(found).toEqual(order);
    }),
  );
});
