import { expect, test } from 'vitest';
import { Pages } from './pages.ts';
import { gate, testStore, texts } from './testing/store.ts';

test('a page that was invalidated during its read is not cached', async () => {
  const store = await testStore();
  const key = await store.channel('stream');
  await store.append(key, texts('of its first life'));
  const [read, proceed] = [gate(), gate()];
  const pages = new Pages(async (of, from) => {
    const found = await store.read(of, from);
    read.open();
    await proceed.opened;
    return found;
  });
  const bodies = async () => {
    const page = await pages.at(key, 0, 1);
    return typeof page === 'number' ? [] : page.records.map(({ body }) => body);
  };
  const early = bodies();
  await read.opened;
  // The last reader leaves, and the channel is recreated.
  pages.forget(key);
  await store.sql`delete from channels`;
  proceed.open();
  expect(await early).toEqual(['of its first life']);
  await store.channel('stream');
  await store.append(key, texts('of its second'));
  expect(await bodies()).toEqual(['of its second']);
});
