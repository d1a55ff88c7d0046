import type { Body, Operations } from '@millrace/contract';
import { expect, test } from 'vitest';
import { tablesWith } from '../../../../../test/support/tables-with.ts';
import { writePacket } from '../../payloads/write.ts';
import { createBulkAction } from '../bulk/create.ts';
import { bulkWorker } from '../bulk/work.ts';
import { prepareReplay } from '../create/replay.ts';
import { listRuns } from '../list/list.ts';
import { declarePaths } from '../paths/declare.ts';
import { retrieveRun } from '../retrieve/retrieve.ts';
import { testEngine, type TestEngine } from '../testing/engine.ts';
import { abortErasure } from './abort.ts';
import { createErasure, maxPendingErasures } from './create.ts';
import { eraser } from './eraser.ts';
import { listErasures, retrieveErasure } from './read.ts';

const marker = 'ada-lovelace-1815';

/** The next claims delete the empty lanes of concurrency keys. */
const tracesIn = async (t: TestEngine): Promise<string[]> =>
  (await tablesWith(t.sql, marker)).filter((table) => table !== 'lanes');

const hourMs = 3_600_000;

/** Erases to the end. Returns the number of ticks. */
async function workOff({ engine }: TestEngine): Promise<number> {
  const job = eraser(engine);
  for (let ticks = 1; ; ticks++) if (!(await job.tick())) return ticks;
}

async function erase(
  t: TestEngine,
  selection: Omit<Body<Operations['createErasure']>, 'mode'>,
  mode: 'erase' | 'delete' = 'erase',
) {
  const { id } = await createErasure(t.engine, t.environment.id, { ...selection, mode });
  await workOff(t);
  return retrieveErasure(t.sql, t.environment.id, id);
}

async function start() {
  const t = await testEngine();
  const { id: version } = await t.register('mail');
  await t.addRunner('r');
  const claim = async () => (await t.claim('r', [version], 1))[0]!;
  const completed = async (options: Parameters<TestEngine['trigger']>[1] = {}, payload?: unknown) => {
    const { id } = await t.trigger('mail', options, payload);
    await t.end(await claim());
    return id;
  };
  const listed = async (query: object) =>
    (
      await listRuns(t.sql, {
        envs: [t.environment.id],
        query: { 'page[size]': 100, ...query },
        now: t.engine.clock.now(),
      })
    ).data.map(({ id }) => id);
  return { t, env: t.environment.id, claim, completed, listed };
}

async function* bytes(text: string) {
  yield Buffer.from(text);
}

test.each(['erase', 'delete'] as const)(
  '%s leaves no trace of the data of a run in any table',
  async (mode) => {
    const { t, env, claim, completed, listed } = await start();
    await t.sql.begin((tx) => declarePaths(tx, env, ['metadata.user'], t.engine.clock.now(), 'path'));
    await t.engine.paths.refresh();
    await writePacket(
      t.engine,
      { env, name: `${marker}.json`, contentType: 'application/json' },
      bytes(marker),
    );
    const other = await completed({ tags: ['other'] }, 'kept');
    const options = {
      tags: [marker, 'other'],
      metadata: { user: marker },
      idempotencyKey: marker,
      idempotencyKeyTTL: '52w',
      concurrencyKey: marker,
      description: marker,
    };
    const stored = await t.trigger('mail', { payloadType: 'application/store' }, `${marker}.json`);
    await t.end(await claim());
    const failing = await t.trigger('mail', { ...options, maxAttempts: 2 }, { name: marker });
    const error = {
      type: 'BUILT_IN_ERROR',
      name: 'Error',
      message: `no mail for ${marker}`,
      stackTrace: marker,
    } as const;
    const failed = { kind: 'failed', status: 'FAILED', error } as const;
    const attempt = await claim();
    expect(attempt.run).toBe(failing.id);
    const at = new Date(t.engine.clock.now());
    await t.sql`
    insert into run_logs (env, run_id, attempt, at, level, message) values (${env}, ${failing.id}, 1, ${at}, 'info', ${marker})`;
    await t.sql`
    insert into run_spans (env, run_id, attempt, at, trace_id, count, dropped, size, spans)
    values (${env}, ${failing.id}, 1, ${at}, '', 1, 0, 1, ${marker})`;
    await t.sql`
    insert into run_steps (env, run_id, name, kind, status, seq, attempt, tries, started_at, ended_at, output)
    values (${env}, ${failing.id}, 'a', 'RUN', 'COMPLETED', 1, 1, 1, ${at}, ${at}, ${marker})`;
    await t.sql`
    insert into attempts (env, run_id, fence, number, outcome, started_at, ended_at, active_ms, error, due)
    values (${env}, ${failing.id}, 1, 1, 'FAILED', ${at}, ${at}, 1, ${JSON.stringify(error)}::jsonb, ${at})`;
    for (const prefix of ['r', 'i']) {
      await t.sql`
      with channel as (
        insert into channels (id, env, name, created_at)
        values (gen_random_uuid(), ${env}, ${`${prefix}/${failing.id}/words`}, ${at}) returning id
      )
      insert into channel_segments (channel, seq, count, bytes, at, records) select id, 0, 1, 1, ${at}, ${marker} from channel`;
    }
    await t.sql`
    insert into notifications (id, env, type, at, data)
    values ('n', ${env}, 'run.failed', ${at}, ${JSON.stringify({ id: failing.id, tags: [marker], error: { message: marker } })}::jsonb)`;
    await t.end(attempt, failed);
    await t.sql`update notifications set at = (select finished_at from runs where id = ${failing.id})`;
    expect(await tracesIn(t)).toEqual([
      'attempts',
      'channel_segments',
      'error_samples',
      'idempotency_keys',
      'notifications',
      'packet_pieces',
      'packets',
      'run_facets',
      'run_logs',
      'run_spans',
      'run_steps',
      'runs',
    ]);
    t.engine.clock.shift(2 * hourMs);

    const erasure = await erase(t, { runIds: [failing.id, stored.id] }, mode);
    expect(erasure).toMatchObject({ mode, status: 'COMPLETED', counts: { erased: 2, skipped: 0 } });
    expect(await tracesIn(t)).toEqual([]);
    expect(await listed({ 'filter[tag]': ['other'] })).toEqual([other]);
    expect(await t.trigger('mail', options)).toMatchObject({ isCached: false });
    const run = await retrieveRun(t.engine, env, failing.id);
    if (mode === 'delete') return expect(run).toBeUndefined();
    expect(run).toMatchObject({ taskIdentifier: 'mail', status: 'FAILED', tags: [], attemptCount: 1 });
    expect(run?.erasedAt).toBe(erasure.completedAt);
    expect(run?.payload).toBeUndefined();
    expect(await listed({ 'filter[status]': ['FAILED'] })).toEqual([failing.id]);
  },
);

test('a packet that another run names is kept until that run is erased too', async () => {
  const { t, env, claim } = await start();
  await writePacket(t.engine, { env, name: 'shared', contentType: 'text/plain' }, bytes(marker));
  const runs: string[] = [];
  for (const _ of [1, 2]) {
    const { id } = await t.trigger('mail', { payloadType: 'application/store' }, 'shared');
    await t.end(await claim());
    runs.push(id);
  }
  t.engine.clock.shift(hourMs);
  await erase(t, { runIds: [runs[0]!] });
  expect(await tracesIn(t)).toEqual(['packet_pieces']);
  await erase(t, { runIds: [runs[1]!] });
  expect(await tracesIn(t)).toEqual([]);
});

test('runs that have not ended are skipped and counted, also when they end before their turn', async () => {
  const { t, env, claim, completed } = await start();
  const ended = await completed({ tags: [marker] });
  const executing = await t.trigger('mail', { tags: [marker] });
  const attempt = await claim();
  const waiting = await t.trigger('mail', { tags: [marker], delay: '1h' });
  t.engine.clock.shift(hourMs / 2);
  const { id } = await createErasure(t.engine, env, {
    filter: { tag: [marker] },
    runIds: undefined,
    mode: 'erase',
  });
  t.engine.clock.shift(1);
  await t.end(attempt);
  await workOff(t);
  const erasure = await retrieveErasure(t.sql, env, id);
  expect(erasure).toMatchObject({ status: 'COMPLETED', counts: { erased: 1, skipped: 2 } });
  const unchanged = await t.sql<{ id: string }[]>`select id from runs where tags is not null order by id`;
  expect(unchanged.map((run) => run.id)).toEqual([executing.id, waiting.id].toSorted());
  expect((await retrieveRun(t.engine, env, ended))?.erasedAt).toBeDefined();
  // The executing run has ended now. The erased one is not counted again.
  t.engine.clock.shift(hourMs);
  expect(await erase(t, { filter: { taskIdentifier: ['mail'] } })).toMatchObject({
    counts: { erased: 1, skipped: 1 },
  });
});

test('a run is not erased while its runner may still deliver log lines', async () => {
  const { t, env, completed } = await start();
  const run = await completed({ tags: [marker] });
  const { id } = await createErasure(t.engine, env, {
    filter: { tag: [marker] },
    runIds: undefined,
    mode: 'erase',
  });
  await workOff(t);
  expect(await retrieveErasure(t.sql, env, id)).toMatchObject({ status: 'PENDING', counts: { erased: 0 } });
  t.engine.clock.shift(60_001);
  await workOff(t);
  expect(await retrieveErasure(t.sql, env, id)).toMatchObject({ status: 'COMPLETED', counts: { erased: 1 } });
  expect((await retrieveRun(t.engine, env, run))?.tags).toEqual([]);
});

/** Copies of an ended run, with the same span. */
const addRuns = async ({ sql }: TestEngine, run: string, count: number) => {
  await sql`
    insert into runs (env, id, task, queue_id, sort_key, created_at, status, finished_at, tags, payload)
    select env, left(id, 10) || lpad(to_hex(n), 14, '0'), task, queue_id, sort_key, created_at, status, finished_at, tags, payload
      from runs, generate_series(1, ${count}::int) n where id = ${run}`;
  await sql`
    insert into run_logs (env, run_id, attempt, at, level, message)
    select env, id, 1, created_at, 'info', ${marker} from runs, generate_series(1, 12)`;
};

test('many runs are erased in bounded transactions, and an interrupted erasure continues where it stopped', async () => {
  const { t, env, completed } = await start();
  await addRuns(t, await completed({ tags: [marker] }, marker), 1_200);
  t.engine.clock.shift(2 * hourMs);
  const { id } = await createErasure(t.engine, env, {
    filter: { tag: [marker] },
    runIds: undefined,
    mode: 'erase',
  });
  // The 6,000 lines of the first runs need two transactions.
  await eraser(t.engine).tick();
  expect(await retrieveErasure(t.sql, env, id)).toMatchObject({ counts: { erased: 0 } });
  await eraser(t.engine).tick();
  expect(await retrieveErasure(t.sql, env, id)).toMatchObject({ counts: { erased: 500, skipped: 0 } });
  // Another process, which knows nothing of the first one.
  expect(await workOff(t)).toBeLessThan(8);
  expect(await retrieveErasure(t.sql, env, id)).toMatchObject({
    status: 'COMPLETED',
    counts: { erased: 1_201, skipped: 0 },
  });
  expect(await tracesIn(t)).toEqual([]);
});

test('an aborted erasure keeps the rest, and cannot be aborted again after its end', async () => {
  const { t, env, completed } = await start();
  await addRuns(t, await completed({ tags: [marker] }), 600);
  await t.sql`delete from run_logs`;
  t.engine.clock.shift(2 * hourMs);
  const { id } = await createErasure(t.engine, env, {
    filter: { tag: [marker] },
    runIds: undefined,
    mode: 'delete',
  });
  await eraser(t.engine).tick();
  expect(await abortErasure(t.engine, env, id)).toMatchObject({ status: 'ABORTED', counts: { erased: 500 } });
  await workOff(t);
  expect(await t.sql`select from runs`).toHaveLength(101);
  const all = await erase(t, { filter: { taskIdentifier: ['mail'] } }, 'delete');
  await expect(abortErasure(t.engine, env, all.id)).rejects.toMatchObject({ status: 422 });
  const { data } = await listErasures(t.sql, env, { 'page[size]': 1 });
  expect(data.map(({ id: listed }) => listed)).toEqual([all.id]);
  // The selection may be personal data.
  expect(await t.sql`select from erasures where filter is not null or run_ids is not null`).toHaveLength(0);
});

test('an erased run is not replayed without a payload, alone or by a bulk action', async () => {
  const { t, env, completed } = await start();
  const run = await completed({ tags: ['a'] }, 1);
  t.engine.clock.shift(hourMs);
  await erase(t, { runIds: [run, 'run_missing', 'run_\0'] });
  await expect(prepareReplay(t.engine, t.environment, run)).rejects.toMatchObject({ code: 'run_erased' });
  expect(await prepareReplay(t.engine, t.environment, run, { payload: 2 })).toMatchObject({ task: 'mail' });
  await createBulkAction(t.engine, env, { action: 'replay', runIds: [run] });
  const worker = bulkWorker(t);
  while (await worker.tick());
  expect(await t.sql`select success, failure from bulk_actions`).toEqual([{ success: 0, failure: 1 }]);
});

test('a filter that cannot match ends at once, and only some erasures may be pending', async () => {
  const { t, env } = await start();
  const create = (filter: object) =>
    createErasure(t.engine, env, { filter, runIds: undefined, mode: 'erase' });
  expect(await create({ version: ['20200101.1'] })).toMatchObject({
    status: 'COMPLETED',
    counts: { erased: 0, skipped: 0 },
  });
  for (let n = 0; n < maxPendingErasures; n++) await create({ tag: ['a'] });
  await expect(create({ tag: ['a'] })).rejects.toMatchObject({ code: 'rate_limited' });
});
