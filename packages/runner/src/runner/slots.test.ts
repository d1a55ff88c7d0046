import { expect, test } from 'vitest';
import { Slots } from './slots.ts';

test('a single environment has all slots', () => {
  const slots = new Slots(10);
  const user = { busy: 0, active: 0 };
  slots.add(user);
  expect(slots.limit(user)).toBe(10);
  Object.assign(user, { busy: 10, active: 25 });
  expect(slots.limit(user)).toBe(10);
});

test('an environment gets the remaining slots, and at least one', () => {
  const slots = new Slots(10);
  const [first, second, idle] = [
    { busy: 7, active: 7 },
    { busy: 0, active: 0 },
    { busy: 0, active: 0 },
  ];
  for (const user of [first, second, idle]) slots.add(user);
  expect(slots.limit(second)).toBe(3);
  Object.assign(first, { busy: 10, active: 10 });
  expect(slots.limit(second)).toBe(1);
  slots.remove(first);
  expect(slots.limit(second)).toBe(10);
});

test('an environment above its share gets no new slots while another is below its own', () => {
  const slots = new Slots(10);
  const big = { busy: 10, active: 500 };
  const small = { busy: 0, active: 0 };
  slots.add(big);
  slots.add(small);
  expect(slots.limit(big)).toBe(10);
  expect(slots.limit(small)).toBe(1);
  Object.assign(small, { busy: 1, active: 1 });
  expect(slots.limit(big)).toBe(5);
  // As runs of the large environment end, the small one gets their slots until both have their share.
  for (let ended = 1; ended <= 5; ended += 1) {
    big.busy -= 1;
    const limit = slots.limit(small);
    Object.assign(small, { busy: limit, active: limit });
  }
  expect([big.busy, small.busy]).toEqual([5, 5]);
  // With nothing left to do, the small environment releases them again.
  Object.assign(small, { busy: 1, active: 1 });
  expect(slots.limit(small)).toBe(5);
  expect(slots.limit(big)).toBe(9);
});
