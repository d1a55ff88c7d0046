import { expect, test } from 'vitest';
import { channelPruner } from './prune.ts';
import { all, testStore, texts } from './testing/store.ts';

const day = 86_400_000;

test('old records are deleted with their part ids; newer records and the numbering remain', async () => {
  const store = await testStore();
  const [busy, quiet] = [await store.channel(), await store.channel()];
  for (let n = 0; n < 20; n++) await store.append(busy, texts(`${n}`, `${n}`), { partId: `${n}` });
  await store.append(quiet, texts('old'), { partId: 'q' });
  await store.sql`update channel_segments set at = now() - interval '40 days' where channel = ${quiet.id} or seq < 30`;
  await store.sql`update channels set created_at = now() - interval '41 days'`;
  await store.sql`update channels set last_at = now() - interval '40 days' where id = ${quiet.id}`;
  const pruner = channelPruner(store.sql, { now: Date.now }, 30 * day);
  while (await pruner.tick());
  expect((await all(store, busy)).map(({ seq }) => seq)).toEqual([30, 31, 32, 33, 34, 35, 36, 37, 38, 39]);
  expect(await store.append(busy, texts('again'), { partId: '3' })).toMatchObject({
    start: 40,
    repeated: false,
  });
  expect(await store.append(busy, texts('again'), { partId: '18' })).toMatchObject({
    start: 36,
    repeated: true,
  });
  // This channel had no records left.
  expect(await store.tail(quiet)).toBeUndefined();
  const [{ parts } = { parts: -1 }] = await store.sql<
    { parts: number }[]
  >`select count(*)::int as parts from channel_parts`;
  expect(parts).toBe(6);
});
