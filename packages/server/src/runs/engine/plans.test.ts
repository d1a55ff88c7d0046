import { expect, onTestFinished, test } from 'vitest';
import { fillAtOnce } from '../../batches/fill-at-once.ts';
import { fillIn } from '../../batches/fill.ts';
import { newTimedId } from '../../db/ids.ts';
import { connect, type Sql } from '../../db/connect.ts';
import { engineSettings } from '../../db/engine-settings.ts';
import { cancelRun } from '../cancel/cancel.ts';
import type { Engine } from './engine.ts';
import { insertLeased, insertQueued, insertQueuedWith } from '../create/insert-everyday.ts';
import { prepareRun, type TriggerRequest } from '../create/prepare.ts';
import { reclaimUnheld, rescueRunner } from '../dispatch/rescue.ts';
import type { NewRun } from '../create/row.ts';
import { retrieveRun } from '../retrieve/retrieve.ts';
import type { EndedAttempt } from '../complete/attempt.ts';
import { createComplete } from '../complete/complete.ts';
import { addOtherRuns, hot, pretend, type Statistics } from '../testing/other-runs.ts';
import { testEngine } from '../testing/engine.ts';
import { watchPlans, type Scan } from '../testing/plans.ts';
import { insertRuns } from '../create/insert.ts';
import { createBeginWaits } from '../waits/begin.ts';
import { endDueWaits } from '../waits/due.ts';

const few = 25;

/** A server's connections on a database full of other runs, and the handling of some of its own runs. */
async function loaded() {
  const t = await testEngine();
  const env = t.environment.id;
  const concurrency = { name: 'provider', limit: 8 };
  const other = await t.register('send', 'limited', 'full');
  const version = await t.register(
    'send',
    { id: 'limited', queue: { name: 'limited', concurrencyLimit: 1_000 } },
    { id: 'full', queue: { name: 'full', concurrencyLimit: 2 } },
    { id: 'index', batch: { maxSize: 10, maxWaitMs: 60_000 } },
    { id: 'rated', queue: { name: 'rated', rateLimit: { limit: 10, period: 1 } } },
    {
      id: 'rated-keys',
      queue: { name: 'rated-keys', rateLimit: { limit: 2, period: 1, key: 'concurrencyKey' } },
    },
    { id: 'shared', queue: { name: 'shared', concurrency, weight: 2, keyWeights: { 'key 1': 3 } } },
    { id: 'shared-full', queue: { name: 'shared-full', concurrencyLimit: 1, concurrency } },
  );
  await addOtherRuns(t.sql, env, await t.engine.queues.id(env, 'limited'));
  const plans = await watchPlans(t.sql);
  const pool = (settings: Readonly<Record<string, string>>) => {
    // One connection each, which plans once, like the connections of a long-running server.
    const sql = connect(t.database, { name: 'test', max: 1, settings });
    onTestFinished(() => sql.end({ timeout: 1 }));
    return sql;
  };
  const sql = pool({ jit: 'off' });
  const engineSql = pool(engineSettings);
  const engine: Engine = { ...t.engine, sql: engineSql };
  const { dispatch, runners, redactor } = t;
  const resume = (): void => {};
  const complete = createComplete({
    engine,
    engineSql,
    dispatch,
    resume,
    runners,
    redactor,
    tracing: undefined,
  });
  const begin = createBeginWaits(engine, engineSql, t.dispatch, () => {});
  const dependencies = { engine, dispatch, complete };
  const now = () => new Date(t.engine.clock.now());
  let clients = 0;

  const prepared = (task: string, options: TriggerRequest['options'] = {}) =>
    prepareRun(t.engine, t.environment, task, { options, payload: { n: 1 } });
  const many = async (task: string, options?: (n: number) => TriggerRequest['options']) => {
    const runs: NewRun[] = [];
    for (let n = 0; n < few; n++) runs.push(await prepared(task, options?.(n)));
    return runs;
  };
  const claim = async (runner: string, want = few) => {
    const rows = await engineSql<{ run_id: string; fence: string }[]>`
      select * from claim_runs(${env}, ${runner}, ${[0, version.id]}::int[], ${version.id}, ${want}, '(-1,0,)', ${now()})`;
    return rows.map((row) => ({ env, run: row.run_id, fence: Number(row.fence), task: 'send' }));
  };
  const end = (attempts: readonly Omit<EndedAttempt, 'outcome'>[], outcome: EndedAttempt['outcome']) =>
    Promise.all(attempts.map((attempt) => complete({ ...attempt, outcome })));
  const completed = { kind: 'completed', output: null, outputType: 'application/json' } as const;

  /** Every operation of the engine, once for some runs. */
  const live = async (): Promise<void> => {
    const runner = `runner ${++clients}`;
    await t.sql`
      insert into runners (id, env, host, pid, connection, connected_at, expires_at)
      values (${runner}, ${env}, 'test', 1, ${runner}, now(), now() + interval '1 hour')`;
    // created in every way
    await insertRuns(engine, await many('send'));
    await insertQueued(engine, await many('send'));
    await insertQueuedWith(
      engine,
      await many('send'),
      (condition) => engineSql`select id as run from input where ${condition}`,
    );
    await insertRuns(
      engine,
      await many('send', (n) => ({ concurrencyKey: `key ${n % 5}`, tags: ['t'], ttl: 1 })),
    );
    await insertRuns(engine, await many('limited', (n) => ({ idempotencyKey: `${clients} ${n}` })));
    const requests = (await many('full')).map((run) => ({ ...run, requestKey: crypto.randomUUID() }));
    await insertRuns(engine, requests);
    await insertRuns(
      engine,
      requests.map((run) => ({ ...run, id: newTimedId('run', now().getTime()) })),
    );
    await insertRuns(engine, await many('unknown'));
    await insertRuns(engine, await many('rated', (n) => ({ concurrencyKey: `key ${n % 15}` })));
    await insertRuns(engine, await many('rated-keys', (n) => ({ concurrencyKey: `key ${n % 5}` })));
    for (const task of ['shared', 'shared-full'])
      await insertRuns(engine, await many(task, (n) => ({ concurrencyKey: `key ${n % 5}` })));
    await insertRuns(engine, await many('send', () => ({ delay: new Date(now().getTime() - 1_000) })));
    const delayed = await many('send', () => ({ delay: new Date(now().getTime() + 50) }));
    await insertRuns(engine, delayed);
    const debounce = { debounce: { key: `d${clients}`, delay: '1s' } };
    await insertRuns(engine, [await prepared('send', debounce)]);
    await insertRuns(engine, [await prepared('send', debounce)]);
    for (let n = 0; n < 2; n++) {
      const triggerLimit = { key: `l${clients}`, burst: 1, span: 60_000_000, drops: true };
      await insertRuns(engine, [{ ...(await prepared('send')), triggerLimit }]);
    }
    for (const onConflict of ['queue', 'queue', 'replace', 'skip'] as const)
      await insertRuns(engine, [await prepared('send', { singleton: { key: `s${clients}`, onConflict } })]);
    const parts = await many('index', (n) => ({ batchKey: `${clients} ${n % 2}` }));
    await insertRuns(engine, parts);
    await insertRuns(
      engine,
      (await many('index')).map((run) => ({ ...run, requestKey: crypto.randomUUID() })),
    );
    await insertRuns(engine, await many('index', (n) => ({ batchKey: `${clients} ${n % 2}` })));
    await retrieveRun({ ...engine, sql }, env, parts[0]!.id);
    await cancelRun(engine, t.runners, env, parts[0]!.id);
    await insertLeased(engine, await prepared('send', { concurrencyKey: `new ${clients}` }), {
      runner,
      version: version.id,
    });
    for (const way of ['at once', 'in pieces'] as const) {
      const batch = newTimedId('batch', now().getTime());
      await sql`insert into batches (env, id, run_count, created_at) values (${env}, ${batch}, ${few}, ${now()})`;
      const items = (await many('send')).map((run, index) => ({
        run: { ...run, batch, id: newTimedId('run', now().getTime() + index) },
        isOversized: false,
      }));
      const row = { id: batch, run_count: few, received: 0, created_at: now() };
      if (way === 'at once') await fillAtOnce(sql, env, row as never, items, now().getTime());
      else await sql.begin((tx) => fillIn(tx, env, batch, items, now().getTime()));
    }
    await engineSql`select promote_due(${new Date(now().getTime() + 100)}, 1000)`;
    await engineSql`select release_rate_limited(1000)`;

    // executed, with every outcome
    const attempts = [...(await claim(runner, 2 * few)), ...(await claim(runner, 4 * few))];
    expect(attempts.length).toBeGreaterThan(4 * few);
    const some = (count: number) => attempts.splice(0, count);
    const error = { type: 'BUILT_IN_ERROR', name: 'Error', message: 'no', stackTrace: 'Error: no' } as const;
    await end(some(few), completed);
    await end(some(3), { kind: 'retry', error, delayMs: 0 });
    await end(some(3), { kind: 'failed', status: 'FAILED', error });
    await end(some(3), { kind: 'released' });
    await end(some(3), { kind: 'unknownTask' });
    // they wait and continue
    const waiting = some(6);
    const [child] = some(1);
    await Promise.all([
      ...waiting
        .slice(0, 3)
        .map((attempt) => begin({ ...attempt, waits: [{ key: 'time/1', kind: 'TIME', inMs: 1 }] })),
      ...waiting
        .slice(3)
        .map((attempt) => begin({ ...attempt, waits: [{ key: 'run/1', kind: 'RUN', target: child!.run }] })),
    ]);
    await end([child!], completed);
    await endDueWaits(engine, 1_000);
    await engineSql`select * from resume_runs(${env}, ${now()}, 500)`;
    await end(waiting, completed);
    // canceled and read
    for (const { run } of [...some(2), { run: delayed[0]!.id }, { run: requests[3]!.id }])
      await cancelRun(engine, t.runners, env, run);
    for (const { run } of attempts.slice(0, 2)) await retrieveRun({ ...engine, sql }, env, run);
    await engineSql`select expire_due(${new Date(now().getTime() + 2_000)}, 1000)`;
    await engineSql`select promote_pending_version(${env}, ${now()}, 1000)`;
    for (const wait of ['delayed', 'retrying', 'pending_version', 'waiting', 'queued'])
      await engineSql`
        select * from move_runs(${env}, ${version.id}, ${other.id}, ${wait}, null, 0, 0, '', ${now()}, 100)`;
    // a live runner lists its attempts, then it is lost
    await reclaimUnheld(
      dependencies,
      runner,
      attempts.slice(0, 5).map((attempt) => attempt.fence),
      now().getTime(),
    );
    await rescueRunner(dependencies, runner, runner);
  };
  return { t, plans, live };
}

/** Rebuilds all indexes in name order, like a restore from a dump, because the planner breaks ties by their age. */
async function remakeIndexes(sql: Sql): Promise<void> {
  const indexes = await sql<{ table: string; name: string; index: string; constraint: string | null }[]>`
    select c.relname as "table", i.relname as name, pg_get_indexdef(i.oid) as index, pg_get_constraintdef(o.oid) as constraint
      from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class c on c.oid = x.indrelid
      left join pg_constraint o on o.conindid = i.oid and o.contype in ('p', 'u')
     where c.relnamespace = 'public'::regnamespace and c.relname = any (${[...watched]}::text[]) order by i.relname`;
  for (const { table, name, index, constraint } of indexes) {
    await sql.unsafe(
      constraint === null
        ? `drop index ${name}; ${index}`
        : `alter table ${table} drop constraint ${name}, add constraint ${name} ${constraint}`,
    );
  }
}

const watched = new Set<string>([...hot, 'runs']);

/** Reads more of a table than a statement for a few runs should. */
const isTooMuch = ({ table, type, rows, pages, statement }: Scan): boolean =>
  watched.has(table) &&
  (rows > 200 || pages > 100 + 5 * rows || (type.startsWith('Bitmap') && rows > 1)) &&
  // The attempts of a runner are read from all leases: when it is lost, and at each of its heartbeats.
  !statement.includes('l.runner_id = p_runner') &&
  // Moving the runs of a version searches for its lanes among all blocked ones.
  !statement.includes('l.blocked and l.pinned_version = p_from');

const formatScan = ({ table, type, index, condition, rows, pages, loops, statement }: Scan): string =>
  `${type} of ${table} by ${index ?? 'nothing'} ${condition ?? ''}: ${rows} rows, ${Math.round(pages)} pages × ${loops}: ${statement.slice(0, 400)}`;

const cases: Record<string, Statistics> = {
  'were never gathered': { rows: -1, pages: 0 },
  'say empty, of a large file': { rows: 0, pages: 14_888 },
  'say empty, of no file': { rows: 0, pages: 0 },
  'say one row, of a large file': { rows: 1, pages: 14_888 },
  'say a few rows, of one page': { rows: 20, pages: 1 },
  'say very many rows': { rows: 1e9, pages: 10_000_000 },
};

test('autovacuum keeps the hot tables small, without pauses and without truncating them', async () => {
  const { sql } = await testEngine();
  const rows = await sql<{ name: string }[]>`
    select relname as name from pg_class
     where reloptions @> '{autovacuum_vacuum_cost_delay=0,vacuum_truncate=off,autovacuum_vacuum_scale_factor=0}' order by 1`;
  const tables = [
    'delayed',
    'error_arrivals',
    'lanes',
    'leases',
    'pending_version',
    'queue_starts',
    'queued',
    'run_stat_arrivals',
    'suspended',
    'trigger_starts',
  ];
  expect(rows.map(({ name }) => name)).toEqual(tables);
});

test(
  'every statement reads hot tables by the full key, regardless of statistics',
  { timeout: 240_000 },
  async () => {
    const { t, plans, live } = await loaded();
    const offences: Record<string, string[]> = {};
    for (const analyzed of [false, true]) {
      if (analyzed) {
        await remakeIndexes(t.sql);
        await t.sql.unsafe('analyze');
      }
      for (const [name, statistics] of Object.entries(cases)) {
        await pretend(t.sql, statistics);
        plans.take();
        await live();
        const scans = plans.take();
        expect(scans.length).toBeGreaterThan(100);
        const found = scans.filter(isTooMuch).map(formatScan);
        if (found.length > 0)
          offences[`${name}${analyzed ? ', columns known, indexes made again' : ''}`] = [...new Set(found)];
      }
    }
    expect(offences).toEqual({});
  },
);
