import { expect, test, vi } from 'vitest';
import { LookupCache } from './lookup-cache.ts';

const options = { maxAgeMs: 1_000, dueMs: 500, maxEntries: 100 };
const lookUp =
  (value: string, age = 0, endsInMs?: number) =>
  async () => ({
    value,
    asOf: performance.now() - age,
    endsInMs,
  });

test('an entry is used until its maximum age, counted from the start of its lookup', async () => {
  const cache = new LookupCache<string>(options);
  await cache.load('young', lookUp('a', 400));
  await cache.load('due', lookUp('b', 600));
  await cache.load('old', lookUp('c', 1_000));
  await cache.load('ended', lookUp('d', 50, 50));
  const young = cache.find('young');
  const due = cache.find('due');
  expect(young?.value).toBe('a');
  expect(young && cache.isDue('young', young)).toBe(false);
  expect(due && cache.isDue('due', due)).toBe(true);
  expect(cache.find('old')).toBeUndefined();
  expect(cache.find('ended')).toBeUndefined();
});

test('concurrent calls share one lookup', async () => {
  const cache = new LookupCache<string>(options);
  const looking = vi.fn<ReturnType<typeof lookUp>>(lookUp('a'));
  const loads = Array.from({ length: 5 }, () => cache.load('key', looking));
  expect((await Promise.all(loads)).map((entry) => entry.value)).toEqual(Array(5).fill('a'));
  expect(looking).toHaveBeenCalledTimes(1);
});

test('a failed lookup removes the entry', async () => {
  const cache = new LookupCache<string>(options);
  await cache.load('key', lookUp('a'));
  await expect(cache.load('key', () => Promise.reject(new Error('revoked')))).rejects.toThrow('revoked');
  expect(cache.find('key')).toBeUndefined();
});

test('never exceeds its limit, and retains the newest entries', async () => {
  const cache = new LookupCache<string>(options);
  for (let i = 0; i < 1_000; i++) await cache.load(`key ${i}`, lookUp(String(i)));
  expect(cache.size).toBe(100);
  expect(cache.find('key 999')?.value).toBe('999');
  expect(cache.find('key 0')).toBeUndefined();
});

test('expired entries are removed when others are stored', async () => {
  const cache = new LookupCache<string>(options);
  for (let i = 0; i < 50; i++) await cache.load(`old ${i}`, lookUp('x', 999));
  await vi.waitUntil(() => cache.find('old 49') === undefined);
  await cache.load('new', lookUp('y'));
  expect(cache.size).toBe(1);
});

test('clearing removes all entries and ignores lookups in progress', async () => {
  const cache = new LookupCache<string>(options);
  await cache.load('known', lookUp('a'));
  let find = () => {};
  const found = new Promise<void>((resolve) => (find = resolve));
  const asOf = performance.now();
  const before = cache.load('asked', () => found.then(() => ({ value: 'old', asOf })));
  await vi.waitUntil(() => performance.now() > asOf);
  cache.clear();
  expect(cache.find('known')).toBeUndefined();
  const after = cache.load('asked', lookUp('new'));
  find();
  expect([(await before).value, (await after).value]).toEqual(['old', 'new']);
  expect(cache.find('asked')?.value).toBe('new');
  expect(cache.size).toBe(1);
});
