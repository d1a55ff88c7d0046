import { describe, expect, test } from 'vitest';
import { allInTurns, mapInTurns } from './turns.ts';

/** Keeps the processor busy. */
function work(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

/** How many event loop turns other work had before the promise resolved. */
async function turnsUntil(act: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    if (isOver) return;
    turns++;
    setImmediate(turn);
  };
  const done = act();
  setImmediate(turn);
  await done;
  isOver = true;
  return turns;
}

const items = Array.from({ length: 20 }, (_, index) => index);

describe.each([
  ['mapInTurns', mapInTurns],
  ['allInTurns', allInTurns as typeof mapInTurns],
])('%s', (_, inTurns) => {
  test('lets other work run between slow items', async () => {
    const turns = await turnsUntil(() => inTurns(items, async () => work(3)));
    // A turn takes 8 ms.
    expect(turns).toBeGreaterThanOrEqual(4);
  });

  test('processes a short list synchronously', async () => {
    expect(await turnsUntil(() => inTurns([1, 2, 3], async (item) => item))).toBe(0);
  });

  test('returns the results in the order of the items, and rejects with the first error', async () => {
    expect(await inTurns(items, async (item, index) => [item, index])).toEqual(
      items.map((item) => [item, item]),
    );
    const failing = inTurns(items, async (item) => {
      work(1);
      if (item === 3) throw new Error('the fourth');
      return item;
    });
    await expect(failing).rejects.toThrow('the fourth');
  });
});
