import { expect, test, vi } from 'vitest';
import { Recent } from './lookup-cache.ts';

const options = { maxAgeMs: 1_000, dueMs: 500, maxEntries: 100 };
const look =
  (value: string, age = 0, endsInMs?: number) =>
  async () => ({
    value,
    asOf: performance.now() - age,
    endsInMs,
  });

test('an entry is used until its age is up, counted from when its look-up began', async () => {
  const recent = new Recent<string>(options);
  await recent.load('young', look('a', 400));
  await recent.load('due', look('b', 600));
  await recent.load('old', look('c', 1_000));
  await recent.load('ended', look('d', 50, 50));
  const young = recent.find('young');
  const due = recent.find('due');
  expect(young?.value).toBe('a');
  expect(young && recent.isDue('young', young)).toBe(false);
  expect(due && recent.isDue('due', due)).toBe(true);
  expect(recent.find('old')).toBeUndefined();
  expect(recent.find('ended')).toBeUndefined();
});

test('calls that come together share one look-up', async () => {
  const recent = new Recent<string>(options);
  const looking = vi.fn<ReturnType<typeof look>>(look('a'));
  const loads = Array.from({ length: 5 }, () => recent.load('key', looking));
  expect((await Promise.all(loads)).map((entry) => entry.value)).toEqual(Array(5).fill('a'));
  expect(looking).toHaveBeenCalledTimes(1);
});

test('a look-up that fails forgets what was known', async () => {
  const recent = new Recent<string>(options);
  await recent.load('key', look('a'));
  await expect(recent.load('key', () => Promise.reject(new Error('revoked')))).rejects.toThrow('revoked');
  expect(recent.find('key')).toBeUndefined();
});

test('it never holds more than its bound, and the newest stay', async () => {
  const recent = new Recent<string>(options);
  for (let i = 0; i < 1_000; i++) await recent.load(`key ${i}`, look(String(i)));
  expect(recent.size).toBe(100);
  expect(recent.find('key 999')?.value).toBe('999');
  expect(recent.find('key 0')).toBeUndefined();
});

test('entries whose time is up leave when others come', async () => {
  const recent = new Recent<string>(options);
  for (let i = 0; i < 50; i++) await recent.load(`old ${i}`, look('x', 999));
  await vi.waitUntil(() => recent.find('old 49') === undefined);
  await recent.load('new', look('y'));
  expect(recent.size).toBe(1);
});

test('what was known is forgotten, and so is what a look-up that began before finds', async () => {
  const recent = new Recent<string>(options);
  await recent.load('known', look('a'));
  let find = () => {};
  const found = new Promise<void>((resolve) => (find = resolve));
  const asOf = performance.now();
  const before = recent.load('asked', () => found.then(() => ({ value: 'old', asOf })));
  await vi.waitUntil(() => performance.now() > asOf);
  recent.forget();
  expect(recent.find('known')).toBeUndefined();
  const after = recent.load('asked', look('new'));
  find();
  expect([(await before).value, (await after).value]).toEqual(['old', 'new']);
  expect(recent.find('asked')?.value).toBe('new');
  expect(recent.size).toBe(1);
});
