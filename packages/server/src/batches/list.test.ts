import { expect, test } from 'vitest';
import { ownBatchServer } from './testing/batch-server.ts';

test('batches are listed newest first, with the outcomes of their runs, in pages', async () => {
  const { ask, fill, keys, open, register, retrieve, sql } = await ownBatchServer();
  await register('send');
  const filled = await open({ runCount: 4 });
  await fill(
    filled,
    [0, 1, 2, 3].map((index) => ({ index, ...(index === 0 && { options: { idempotencyKey: 'one' } }) })),
  );
  // One of its items resolves to a run of the other batch.
  const waiting = await open({ runCount: 3 });
  await fill(waiting, [{ index: 0, options: { idempotencyKey: 'one' } }, { index: 1 }]);
  const { runs } = (await retrieve(filled)).body;
  for (const run of runs.slice(0, 2)) await ask(`POST /api/v2/runs/${run}/cancel`, { key: keys.prod });
  await sql`update runs set status = 'FAILED', finished_at = now() where id = ${runs[2]}`;

  const list = async (query = '') => (await ask(`GET /api/v1/batches${query}`, { key: keys.prod })).body;
  const all = await list();
  expect(all.pagination).toEqual({});
  expect(all.data).toMatchObject([
    {
      id: waiting,
      status: 'PENDING',
      runCount: 3,
      received: 2,
      counts: { live: 1, completed: 0, failed: 0, ended: 1 },
    },
    {
      id: filled,
      status: 'PENDING',
      runCount: 4,
      received: 4,
      sealedAt: expect.any(String),
      counts: { live: 1, completed: 0, failed: 1, ended: 2 },
    },
  ]);
  expect(all.data[0]).not.toHaveProperty('sealedAt');
  // Retrieving the batch returns the same data.
  for (const listed of all.data) expect((await retrieve(listed.id)).body).toMatchObject(listed);

  const first = await list('?page[size]=1');
  expect(first.data.map(({ id }: { id: string }) => id)).toEqual([waiting]);
  expect(first.pagination).toEqual({ next: waiting });
  const second = await list(`?page[size]=1&page[after]=${waiting}`);
  expect(second.data.map(({ id }: { id: string }) => id)).toEqual([filled]);
  expect(second.pagination).toEqual({ previous: filled });
  expect((await list(`?page[size]=1&page[before]=${filled}`)).data[0].id).toBe(waiting);

  await ask(`POST /api/v2/runs/${runs[3]}/cancel`, { key: keys.prod });
  expect((await list()).data[1]).toMatchObject({ status: 'COMPLETED', counts: { live: 0, ended: 3 } });

  expect((await ask('GET /api/v1/batches', { key: keys.stg })).body.data).toEqual([]);
  const refused = await ask('GET /api/v1/batches?page[after]=run_1', { key: keys.prod });
  expect(refused).toMatchObject({ status: 400, body: { details: [{ path: ['page[after]'] }] } });
});
