import type { BulkFilter } from '@millrace/contract';
import { expect, test } from 'vitest';
import { lockWaiters } from '../../../../../test/support/locks.ts';
import { column } from '../../db/columns.ts';
import type { Sql } from '../../db/connect.ts';
import { newTimedId } from '../../db/ids.ts';
import { createRedactor } from '../../envvars/redact/redactor.ts';
import type { Engine } from '../engine/engine.ts';
import { listRuns } from '../list/list.ts';
import { declarePaths } from '../paths/declare.ts';
import { testEngine, type TestEngine } from '../testing/engine.ts';
import { abortBulkAction } from './abort.ts';
import { createBulkAction } from './create.ts';
import { bulkPruner } from './prune.ts';
import { retrieveBulkAction } from './read.ts';
import { bulkWorker } from './work.ts';

const workerOf = ({ engine, runners, dispatch }: TestEngine) =>
  bulkWorker({ engine, runners, dispatch, redactor: () => createRedactor([]) });

async function workOff(fixture: TestEngine): Promise<void> {
  const worker = workerOf(fixture);
  while (await worker.tick());
}

const countsOf = async ({ sql, environment }: TestEngine, id: string) => {
  const { status, counts } = await retrieveBulkAction(sql, environment.id, id);
  return { status, ...counts };
};

const listed = async ({ sql, environment, engine }: TestEngine, query: object) => {
  const { data } = await listRuns(sql, {
    envs: [environment.id],
    query: { 'page[size]': 100, ...query },
    now: engine.clock.now(),
  });
  return data.map(({ id }) => id);
};

/** The ids in its filter are in the past, because they are assigned a moment earlier. */
const later = (fixture: TestEngine) => fixture.engine.clock.shift(10);

test('finds runs by values at declared paths and by error text, as the list does', async () => {
  const fixture = await testEngine();
  const { engine, environment } = fixture;
  const { id: version } = await fixture.register('echo');
  await fixture.sql.begin((tx) =>
    declarePaths(tx, environment.id, ['metadata.plan', 'payload.order'], engine.clock.now(), 'path'),
  );
  await engine.paths.refresh();
  const matching = await fixture.trigger('echo', { metadata: { plan: 'pro' } }, { order: 7 });
  const others = [
    await fixture.trigger('echo', { metadata: { plan: 'pro' } }, { order: 8 }),
    await fixture.trigger('echo', { metadata: { plan: 'free' } }, { order: 7 }),
  ];
  later(fixture);
  const create = (action: 'cancel' | 'replay', filter: BulkFilter) =>
    createBulkAction(engine, environment.id, { action, filter });
  const id = await create('cancel', { metadata: { plan: ['pro', 'max'] }, payload: { order: 7 } });
  await workOff(fixture);
  expect(await countsOf(fixture, id)).toEqual({ status: 'COMPLETED', total: 1, success: 1, failure: 0 });
  expect(await fixture.statusOf(matching.id)).toBe('CANCELED');
  for (const run of others) expect(await fixture.statusOf(run.id)).toBeNull();
  await expect(create('cancel', { metadata: { other: 1 } })).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('metadata.other is not declared') as string,
  });

  await fixture.addRunner('r');
  for (const message of ['the disk is full', 'no route to host']) {
    const [attempt] = await fixture.claim('r', [version], 1);
    const error = { type: 'BUILT_IN_ERROR', name: 'Error', message, stackTrace: '' } as const;
    await fixture.end(attempt!, { kind: 'failed', status: 'FAILED', error });
  }
  const replayed = await create('replay', { errorText: 'DISK is' });
  await workOff(fixture);
  expect(await countsOf(fixture, replayed)).toMatchObject({ total: 1, success: 1 });
  const none = await create('replay', { errorText: 'nothing of this' });
  expect(await countsOf(fixture, none)).toMatchObject({ status: 'COMPLETED', total: 0 });
});

test('cancels the runs that match a filter, and no later ones', async () => {
  const fixture = await testEngine();
  await fixture.register('echo', 'other');
  const selected = await Promise.all(['a', 'b', 'c'].map((tag) => fixture.trigger('echo', { tags: [tag] })));
  const other = await fixture.trigger('other');
  later(fixture);
  const id = await createBulkAction(fixture.engine, fixture.environment.id, {
    action: 'cancel',
    filter: { taskIdentifier: ['echo'], status: ['QUEUED'] },
  });
  const late = await fixture.trigger('echo');
  await workOff(fixture);
  expect(await countsOf(fixture, id)).toEqual({ status: 'COMPLETED', total: 3, success: 3, failure: 0 });
  for (const run of selected) expect(await fixture.statusOf(run.id)).toBe('CANCELED');
  for (const run of [other, late]) expect(await fixture.statusOf(run.id)).toBeNull();
  const ids = selected.map((run) => run.id);
  expect((await listed(fixture, { 'filter[bulkAction]': id })).toSorted()).toEqual(ids.toSorted());
  expect(await listed(fixture, { 'filter[bulkAction]': id, 'filter[tag]': ['b'] })).toEqual([ids[1]]);
  expect(await listed(fixture, { 'filter[bulkAction]': 'bulk_other' })).toEqual([]);
});

test('an action whose runs cannot be found does not delay other actions', async () => {
  const fixture = await testEngine();
  const { sql, environment } = fixture;
  await fixture.register('echo');
  const run = await fixture.trigger('echo');
  const odd = await createBulkAction(fixture.engine, environment.id, {
    action: 'cancel',
    filter: { taskIdentifier: ['echo'] },
  });
  await sql`update bulk_actions set filter = '{"versions":["x"]}' where id = ${odd}`;
  later(fixture);
  const sound = await createBulkAction(fixture.engine, environment.id, {
    action: 'cancel',
    runIds: [run.id],
  });
  const worker = workerOf(fixture);
  for (let n = 0; n < 4; n++) await worker.tick().catch(() => {});
  expect(await countsOf(fixture, sound)).toMatchObject({ status: 'COMPLETED', success: 1 });
  expect(await countsOf(fixture, odd)).toMatchObject({ status: 'PENDING' });
});

test('requests live attempts to stop, and counts ended or deleted runs as failed', async () => {
  const fixture = await testEngine();
  const { id: version } = await fixture.register('echo');
  const [live, over] = [await fixture.trigger('echo'), await fixture.trigger('echo')];
  await fixture.addRunner('runner');
  for (const attempt of await fixture.claim('runner', [version], 2)) {
    if (attempt.run === over.id) await fixture.end(attempt);
  }
  const id = await createBulkAction(fixture.engine, fixture.environment.id, {
    action: 'cancel',
    runIds: [live.id, over.id, 'run_gone', live.id],
  });
  await workOff(fixture);
  expect(await countsOf(fixture, id)).toEqual({ status: 'COMPLETED', total: 3, success: 1, failure: 2 });
  const leases = await fixture.sql`select cancel_requested from leases where run_id = ${live.id}`;
  expect(leases).toEqual([{ cancel_requested: true }]);
});

/** Runs consisting only of their rows, which is enough for a replay. */
async function addOver({ sql, environment, engine }: TestEngine, count: number): Promise<string[]> {
  const queue = await engine.queues.id(environment.id, 'task/echo');
  const ids = Array.from({ length: count }, (_, n) => newTimedId('run', engine.clock.now() - 60_000 - n));
  await sql`
    insert into runs (env, id, task, status, queue_id, sort_key, created_at, finished_at, payload)
    select ${environment.id}::int, i.id, 'echo', 'FAILED', ${queue}::int, 0, now() - interval '1 minute', now(), '{"n":1}'
      from unnest(${column(ids, (id) => id)}::text[]) as i (id)`;
  await sql`
    insert into run_facets select ${environment.id}::int, f, left(i.id, 10)
      from unnest(${column(ids, (id) => id)}::text[]) as i (id), unnest(array['own_queue_task:echo', 'status:FAILED', 'task_status:FAILED:echo']) as f
    on conflict do nothing`;
  return ids;
}

const replaysOf = ({ sql }: TestEngine) =>
  sql<{ id: string; replay_of: string }[]>`select id, replay_of from runs where replay_of is not null`;

test('replays each run exactly once with any number of workers, even if one dies at any point', async () => {
  const fixture = await testEngine();
  await fixture.register('echo');
  const ids = await addOver(fixture, 1_250);
  const id = await createBulkAction(fixture.engine, fixture.environment.id, {
    action: 'replay',
    filter: { status: ['FAILED'] },
  });
  const workers = [workerOf(fixture), workerOf(fixture), workerOf(fixture)];
  for (let turn = 0; ; turn += 1) {
    const rounds = Promise.allSettled(workers.map((worker) => worker.tick()));
    if (turn % 3 === 1) {
      // The effect of kill -9: the connection ends in the middle of the work.
      await fixture.sql`
        select pg_terminate_backend(pid) from pg_stat_activity
         where application_name = 'test' and pid <> pg_backend_pid() and datname = current_database()`.catch(
        () => {},
      );
    }
    await rounds;
    const { status } = await countsOf(fixture, id);
    if (status !== 'PENDING') break;
  }
  expect(await countsOf(fixture, id)).toEqual({
    status: 'COMPLETED',
    total: 1_250,
    success: 1_250,
    failure: 0,
  });
  const replays = await replaysOf(fixture);
  expect(replays.map((row) => row.replay_of).toSorted()).toEqual(ids.toSorted());
  expect(await listed(fixture, { 'filter[bulkAction]': id })).toEqual(
    replays
      .map((row) => row.id)
      .toSorted()
      .toReversed()
      .slice(0, 100),
  );
}, 60_000);

test('stops midway when aborted, and reports its progress', async () => {
  const fixture = await testEngine();
  await fixture.register('echo');
  await addOver(fixture, 350);
  const { id: env } = fixture.environment;
  const id = await createBulkAction(fixture.engine, env, { action: 'replay', filter: { period: '1d' } });
  const worker = workerOf(fixture);
  for (let n = 0; n < 3; n += 1) await worker.tick();
  await abortBulkAction(fixture.engine, env, id);
  expect(await worker.tick()).toBe(false);
  expect(await countsOf(fixture, id)).toEqual({ status: 'ABORTED', total: 350, success: 200, failure: 0 });
  expect(await replaysOf(fixture)).toHaveLength(200);
  // A second abort changes nothing, unlike an abort of a finished action.
  await abortBulkAction(fixture.engine, env, id);
  const none = await createBulkAction(fixture.engine, env, {
    action: 'cancel',
    filter: { version: ['1.1'] },
  });
  expect(await countsOf(fixture, none)).toEqual({ status: 'COMPLETED', total: 0, success: 0, failure: 0 });
  await expect(abortBulkAction(fixture.engine, env, none)).rejects.toMatchObject({ status: 422 });
  await expect(abortBulkAction(fixture.engine, env, 'bulk_none')).rejects.toMatchObject({ status: 404 });
});

test('counts a run that cannot be replayed as failed and continues with the others', async () => {
  const fixture = await testEngine();
  await fixture.register('echo');
  const ids = await addOver(fixture, 5);
  await fixture.sql`update runs set payload = 'no JSON' where id = ${ids[2] ?? ''}`;
  // Rejected by the database itself, in the middle of the step.
  await fixture.sql.unsafe(`
    create function refuse() returns trigger language plpgsql as $$ begin
      if new.replay_of = '${ids[3] ?? ''}' then raise exception 'not this one'; end if; return new; end $$;
    create trigger refuse before insert on runs for each row execute function refuse()`);
  const id = await createBulkAction(fixture.engine, fixture.environment.id, {
    action: 'replay',
    runIds: ids,
  });
  await workOff(fixture);
  expect(await countsOf(fixture, id)).toEqual({ status: 'COMPLETED', total: 5, success: 3, failure: 2 });
});

test('alternates between actions, and deletes those that ended long ago', async () => {
  const fixture = await testEngine();
  await fixture.register('echo');
  const ids = await addOver(fixture, 300);
  const { id: env } = fixture.environment;
  const large = await createBulkAction(fixture.engine, env, { action: 'replay', runIds: ids });
  fixture.engine.clock.shift(5);
  const small = await createBulkAction(fixture.engine, env, { action: 'replay', runIds: ids.slice(0, 1) });
  const worker = workerOf(fixture);
  for (let n = 0; n < 4; n += 1) {
    fixture.engine.clock.shift(5);
    await worker.tick();
  }
  expect(await countsOf(fixture, small)).toMatchObject({ status: 'COMPLETED', success: 1 });
  expect(await countsOf(fixture, large)).toMatchObject({ status: 'PENDING', success: 200 });
  await workOff(fixture);
  const pruner = bulkPruner(fixture.engine, 86_400_000);
  while (await pruner.tick());
  expect(await countsOf(fixture, large)).toMatchObject({ success: 300 });
  fixture.engine.clock.shift(2 * 86_400_000);
  while (await pruner.tick());
  await expect(countsOf(fixture, large)).rejects.toMatchObject({ status: 404 });
  expect(await fixture.sql`select from bulk_runs`).toHaveLength(0);
});

/** Makes the first replays that are written fail. */
const failFirst = ({ sql }: TestEngine, times: number, code: string, before = '') =>
  sql.unsafe(`
    create sequence tries;
    create function fail_first() returns trigger language plpgsql as $$ begin
      if new.replay_of is not null and nextval('tries') <= ${times} then
        ${before}
        raise exception 'not now' using errcode = '${code}';
      end if;
      return new; end $$;
    create trigger fail_first before insert on runs for each row execute function fail_first()`);

test('waits while PostgreSQL rejects writes, and does not count the run as failed', async () => {
  const fixture = await testEngine();
  await fixture.register('echo');
  const [run] = await addOver(fixture, 1);
  await failFirst(fixture, 3, '53100');
  const id = await createBulkAction(fixture.engine, fixture.environment.id, {
    action: 'replay',
    runIds: [run ?? ''],
  });
  const worker = workerOf(fixture);
  for (let n = 0; n < 6; n += 1) await worker.tick().catch(() => {});
  expect(await countsOf(fixture, id)).toEqual({ status: 'COMPLETED', total: 1, success: 1, failure: 0 });
});

const waiting = ({ sql }: TestEngine) => lockWaiters(sql);

test('does not fail a run that another worker has replayed in the meantime', async () => {
  const fixture = await testEngine();
  await fixture.register('echo');
  const [run] = await addOver(fixture, 1);
  const { sql } = fixture;
  await failFirst(fixture, 2, 'P0001', 'perform pg_advisory_xact_lock(1);');
  const id = await createBulkAction(fixture.engine, fixture.environment.id, {
    action: 'replay',
    runIds: [run ?? ''],
  });
  let isFailed = false;
  let hold = (): void => {};
  const blocked = new Promise<void>((resolve) => {
    hold = resolve;
  });
  // It gives up a run only after the other worker has taken the action.
  const begin: Sql['begin'] = async (act) => {
    if (isFailed) await blocked;
    return sql.begin(act);
  };
  const engine: Engine = {
    ...fixture.engine,
    log: { ...fixture.engine.log, warn: () => void (isFailed = true) },
    sql: new Proxy(sql, { get: (target, name) => (name === 'begin' ? begin : Reflect.get(target, name)) }),
  };
  const worker = workerOf({ ...fixture, engine });
  // It now processes runs one at a time.
  expect(await worker.tick()).toBe(true);
  const { failing, other } = await sql.begin(async (gate) => {
    await gate`select pg_advisory_xact_lock(1)`;
    const round = worker.tick();
    await expect.poll(() => waiting(fixture), { timeout: 20_000 }).toHaveLength(1);
    // Another worker is next to get the action.
    const acting = sql.begin(async (tx) => {
      await tx`select from bulk_actions where id = ${id} for update`;
      hold();
      await expect.poll(() => waiting(fixture), { timeout: 20_000 }).toHaveLength(1);
      await tx`update bulk_runs set ok = true, replay_id = 'run_made' where bulk_id = ${id}`;
      await tx`update bulk_actions set success = 1 where id = ${id}`;
    });
    await expect.poll(() => waiting(fixture), { timeout: 20_000 }).toHaveLength(2);
    return { failing: round, other: acting };
  });
  await Promise.all([failing, other]);
  expect(await countsOf(fixture, id)).toMatchObject({ success: 1, failure: 0 });
  expect(await sql`select ok, replay_id from bulk_runs`).toEqual([{ ok: true, replay_id: 'run_made' }]);
});

test('can be aborted by two callers at once', async () => {
  const fixture = await testEngine();
  const { sql, engine, environment } = fixture;
  const id = await createBulkAction(engine, environment.id, { action: 'cancel', runIds: ['run_1'] });
  const { coming } = await sql.begin(async (tx) => {
    await tx`update bulk_actions set status = 'ABORTED', completed_at = now() where id = ${id}`;
    const aborting = abortBulkAction(engine, environment.id, id);
    aborting.catch(() => {});
    await expect.poll(() => waiting(fixture), { timeout: 20_000 }).toHaveLength(1);
    return { coming: aborting };
  });
  await coming;
});

test('an abort that waits for a chunk takes effect before the next chunk', async () => {
  const fixture = await testEngine();
  const { sql, engine, environment } = fixture;
  await fixture.register('echo');
  const runs = await Promise.all(Array.from({ length: 500 }, () => fixture.trigger('echo')));
  const runIds = runs.map((run) => run.id).toSorted();
  const id = await createBulkAction(engine, environment.id, { action: 'cancel', runIds });
  let release = (): void => {};
  const blocked = new Promise<void>((resolve) => {
    release = resolve;
  });
  const holding = sql.begin(async (tx) => {
    await tx`select from runs where id = ${runIds[50] ?? ''} for update`;
    await blocked;
  });
  const working = workOff(fixture);
  await expect.poll(() => waiting(fixture), { timeout: 20_000 }).toHaveLength(1);
  const aborting = abortBulkAction(engine, environment.id, id);
  await expect.poll(() => waiting(fixture), { timeout: 20_000 }).toHaveLength(2);
  release();
  await Promise.all([holding, working, aborting]);
  expect(await countsOf(fixture, id)).toEqual({ status: 'ABORTED', total: 500, success: 100, failure: 0 });
});
