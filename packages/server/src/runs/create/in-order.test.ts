import { expect, test } from 'vitest';
import { inOrder } from './in-order.ts';
import type { NewRun } from './row.ts';

test('batched runs proceed in request order regardless of preparation time; the others proceed immediately', async () => {
  const turn = inOrder(5);
  const went: string[] = [];
  const after = async (index: number, ms: number, run: Partial<NewRun> & { id: string }): Promise<void> => {
    const preparing = new Promise<NewRun>((resolve) => setTimeout(() => resolve(run as NewRun), ms));
    went.push((await turn(index, preparing)).id);
  };
  const collection = { key: '', lane: '', maxSize: 2, maxWaitMs: 1 };
  await Promise.all([
    after(0, 20, { id: 'a', collection }),
    after(1, 0, { id: 'b', collection }),
    after(2, 10, { id: 'plain' }),
    expect(turn(3, Promise.reject(new Error('refused')))).rejects.toThrow('refused'),
    after(4, 5, { id: 'c', collection }),
  ]);
  expect(went).toEqual(['plain', 'a', 'b', 'c']);
});
