import { expect, test } from 'vitest';
import { batchServer, ownBatchServer, lineOf, type BatchServer } from './testing/batch-server.ts';

/** A run of `send` that a runner executes, with the fence of its attempt. */
async function executing({ ask, keys, sql }: BatchServer) {
  const { body } = await ask('POST /api/v1/tasks/send/trigger', { key: keys.prod, body: {} });
  const [lease] = await sql<{ env: number; fence: string }[]>`
    with runner as (
      insert into runners (id, env, host, pid, connection, connected_at, expires_at)
      select 'runner of ' || id, env, 'test', 1, 'c', now(), now() + interval '1 hour' from runs where id = ${body.id}
    ), gone as (
      delete from queued where run_id = ${body.id}
    )
    insert into leases (env, run_id, runner_id, queue_id, key, version_id, attempt, leased_at)
    select r.env, r.id, 'runner of ' || r.id, r.queue_id, '', v.id, 1, now() from runs r join versions v on v.env = r.env
     where r.id = ${body.id}
    returning env, fence`;
  return { run: body.id as string, fence: Number(lease?.fence) };
}

/** Another attempt owns the run. */
async function takeOver({ sql }: BatchServer, run: string): Promise<number> {
  const [lease] = await sql<{ fence: string }[]>`
    update leases set fence = nextval('lease_fences') where run_id = ${run} returning fence`;
  return Number(lease?.fence);
}

function calls({ ask, keys }: BatchServer) {
  return {
    create: (body: object) => ask('POST /api/v3/batches', { key: keys.prod, body }),
    send: (batch: string, indexes: readonly number[], sender?: { run: string; fence: number }) =>
      ask(
        `POST /api/v3/batches/${batch}/items${sender ? `?senderRunId=${sender.run}&senderFence=${sender.fence}` : ''}`,
        {
          key: keys.prod,
          body: indexes.map((index) => `${lineOf({ index })}\n`).join(''),
          headers: { 'content-type': 'application/x-ndjson' },
        },
      ),
  };
}

test('an attempt that has ended can neither open nor fill a batch; the current attempt continues it', async () => {
  const server = await ownBatchServer();
  await server.register('send');
  const { create, send } = calls(server);
  const { run, fence } = await executing(server);
  const key = { waitKey: `${run}/1 batch/1`, resumeParentOnCompletion: true, parentRunId: run };
  const { status, body } = await create({ runCount: 2, ...key, parentFence: fence });
  expect({ status, key: body.idempotencyKey }).toEqual({ status: 202, key: undefined });
  expect((await send(body.id, [0], { run, fence })).body).toMatchObject({ itemsAccepted: 1, sealed: false });

  const next = await takeOver(server, run);
  expect((await send(body.id, [1], { run, fence })).status).toBe(409);
  expect((await create({ runCount: 2, ...key, parentFence: fence })).status).toBe(409);
  const whole = { items: [{ task: 'send' }], parentRunId: run };
  const { ask, keys } = server;
  const atOnce = (parentFence: number) =>
    ask('POST /api/v2/tasks/batch', { key: keys.prod, body: { ...whole, parentFence } });
  expect((await atOnce(fence)).status).toBe(409);
  expect((await atOnce(next)).status).toBe(202);

  expect((await create({ runCount: 2, ...key, parentFence: next })).body.id).toBe(body.id);
  expect((await send(body.id, [0, 1], { run, fence: next })).body).toMatchObject({
    itemsAccepted: 1,
    sealed: true,
  });
  // Nothing more is written, so a repeated request gets this result.
  expect((await send(body.id, [0, 1], { run, fence })).body).toMatchObject({
    itemsAccepted: 0,
    sealed: true,
  });
  const rows = await server.sql`select parent_id, root_id, depth from runs where batch_id = ${body.id}`;
  expect(rows.map((row) => ({ ...row }))).toEqual([
    { parent_id: run, root_id: run, depth: 1 },
    { parent_id: run, root_id: run, depth: 1 },
  ]);
});

test('a batch that a run opened with a key may be filled by another run', async () => {
  const server = await batchServer();
  await server.register('send');
  const { create, send } = calls(server);
  const [first, second] = [await executing(server), await executing(server)];
  const open = ({ run, fence }: typeof first) =>
    create({ runCount: 1, idempotencyKey: 'k', parentRunId: run, parentFence: fence });
  const { body } = await open(first);
  expect((await open(second)).body).toMatchObject({ id: body.id, isCached: false });
  expect((await send(body.id, [0], { run: second.run, fence: first.fence })).status).toBe(409);
  expect((await send(body.id, [0], second)).body).toMatchObject({ itemsAccepted: 1, sealed: true });
});

test('a canceled run adds nothing to its batch, regardless of the sender', async () => {
  const server = await ownBatchServer();
  await server.register('send');
  const { ask, keys } = server;
  const { create, send } = calls(server);
  const { body: parent } = await ask('POST /api/v1/tasks/send/trigger', { key: keys.prod, body: {} });
  const { body } = await create({ runCount: 2, parentRunId: parent.id });
  expect((await send(body.id, [0])).status).toBe(200);
  expect((await ask(`POST /api/v2/runs/${parent.id}/cancel`, { key: keys.prod })).status).toBe(200);
  expect((await send(body.id, [1])).body.error).toMatch(/canceled/);
  expect((await create({ runCount: 1, parentRunId: parent.id })).status).toBe(422);
  const rows = await server.sql<{ status: string }[]>`select status from runs where batch_id = ${body.id}`;
  expect(rows.map(({ status }) => status)).toEqual(['CANCELED']);
});
