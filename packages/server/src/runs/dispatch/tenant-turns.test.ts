import { expect, test } from 'vitest';
import { TenantTurns } from './tenant-turns.ts';

/** Keeps the processor busy for this long. */
function work(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test('a slice runs immediately if no other is waiting', () => {
  expect(new TenantTurns().run(1, () => 'done')).toBe('done');
});

test('between long slices of all tenants, the event loop does other work', async () => {
  const turns = new TenantTurns();
  let iterations = 0;
  let isOver = false;
  const count = (): void => {
    iterations += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const slices = 12;
  await Promise.all(Array.from({ length: slices }, async (_, at) => turns.run(at % 3, () => work(10))));
  isOver = true;
  expect(iterations).toBeGreaterThanOrEqual(slices - 1);
});

test('tenants take turns, regardless of their number of slices', async () => {
  const turns = new TenantTurns();
  const order: number[] = [];
  const slice = async (tenant: number) =>
    turns.run(tenant, () => {
      order.push(tenant);
      work(1);
    });
  void turns.run(1, () => work(10));
  await Promise.all([1, 1, 1, 1, 1, 2, 2, 3].map(slice));
  expect(order.indexOf(3)).toBeLessThan(4);
});

test('a tenant rests for as long as its slice took', async () => {
  const turns = new TenantTurns();
  const began = performance.now();
  void turns.run(1, () => work(60));
  let other = 0;
  await Promise.all([turns.run(1, () => {}), turns.run(2, () => (other = performance.now() - began))]);
  expect(performance.now() - began).toBeGreaterThanOrEqual(119);
  expect(other).toBeGreaterThan(0);
});

test('a slice that throws does not affect others', async () => {
  const turns = new TenantTurns();
  void turns.run(1, () => work(10));
  const failing = turns.run(1, () => {
    throw new Error('bad');
  });
  const [failed, done] = await Promise.allSettled([failing, turns.run(1, () => 1)]);
  expect([failed.status, done.status]).toEqual(['rejected', 'fulfilled']);
});
