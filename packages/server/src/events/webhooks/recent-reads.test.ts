import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { recentReads } from './recent-reads.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => vi.useRealTimers());

/** Counts its reads: each returns its number. */
function counted() {
  let reads = 0;
  const fail = new Set<number>();
  const get = recentReads(
    async (key: string) => {
      const read = ++reads;
      if (fail.has(read)) throw new Error(`read ${read}`);
      return `${key} ${read}`;
    },
    { max: 10 },
  );
  return { get, fail, reads: () => reads };
}

const later = (ms: number): void => void vi.advanceTimersByTime(ms);
/** Lets a read in the background end. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('concurrent first reads share one', async () => {
  const { get, reads } = counted();
  expect(await Promise.all([get('a'), get('a'), get('b')])).toEqual(['a 1', 'a 1', 'b 2']);
  expect(reads()).toBe(2);
});

test('a value older than a second is refreshed in the background, once', async () => {
  const { get, reads } = counted();
  await get('a');
  later(1_500);
  expect(await Promise.all([get('a'), get('a')])).toEqual(['a 1', 'a 1']);
  await settled();
  expect(await get('a')).toBe('a 2');
  expect(reads()).toBe(2);
});

test('a value older than two seconds is not used', async () => {
  const { get } = counted();
  await get('a');
  later(2_001);
  expect(await get('a')).toBe('a 2');
});

test('a failed read is not cached, also one in the background', async () => {
  const { get, fail } = counted();
  fail.add(1).add(3).add(4);
  await expect(get('a')).rejects.toThrow('read 1');
  expect(await get('a')).toBe('a 2');
  later(1_500);
  expect(await get('a')).toBe('a 2');
  await settled();
  await expect(get('a')).rejects.toThrow('read 4');
  expect(await get('a')).toBe('a 5');
});
