import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { readColumns } from '../../../../test/sql-views/columns.ts';
import { sqlRelease } from '../../../../test/support/sql-release.ts';
import { newId, newTimedId } from './ids.ts';
import { connect, type Sql, type Transaction } from './connect.ts';
import { migrate } from './migrate.ts';
import { grantSqlViews, installSqlViews, revokeSqlViews } from './sql-views.ts';
import { testEngine, type TestEngine } from '../runs/testing/engine.ts';

/** Version 1. A name or type here never changes: that requires `millrace_v2`. A new column comes last in its view. */
const columns = {
  attempts:
    'environment_id text, run_id text, attempt integer, status text, version text, runner text, host text, started_at timestamptz, ended_at timestamptz, duration_ms bigint, retry_at timestamptz, error_id text',
  batches:
    'environment_id text, batch_id text, run_count integer, received integer, parent_run_id text, created_at timestamptz, sealed_at timestamptz, aborted_at timestamptz',
  deployments:
    'environment_id text, deployment_id text, version text, state text, is_current boolean, canary_percent integer, is_uploaded boolean, bytes bigint, deployed_by text, created_at timestamptz, promoted_at timestamptz',
  environments:
    'environment_id text, project_id text, project text, organization_id text, kind text, branch text, is_paused boolean, concurrency_limit integer, created_at timestamptz, archived_at timestamptz',
  error_days: 'environment_id text, error_id text, day timestamptz, occurrences bigint',
  errors:
    'environment_id text, error_id text, task text, type text, message text, status text, occurrences bigint, first_seen_at timestamptz, last_seen_at timestamptz, resolved_at timestamptz, ignored_at timestamptz',
  model_calls:
    'environment_id text, run_id text, attempt integer, at timestamptz, provider text, model text, input_tokens integer, cached_input_tokens integer, cache_write_tokens integer, output_tokens integer, cost numeric',
  model_days:
    'environment_id text, day timestamptz, task text, provider text, model text, calls bigint, unpriced_calls bigint, input_tokens bigint, cached_input_tokens bigint, cache_write_tokens bigint, output_tokens bigint, cost numeric',
  queues:
    'environment_id text, queue text, concurrency_limit integer, is_overridden boolean, is_paused boolean, weight integer, executing bigint, waiting bigint, created_at timestamptz',
  run_counts:
    'environment_id text, minutes integer, dimension text, name text, at timestamptz, triggered integer, completed integer, failed integer, crashed integer, system_failure integer, timed_out integer, canceled integer, expired integer, retried integer, waits bigint, wait_ms bigint, durations bigint, duration_ms bigint',
  runs: 'environment_id text, run_id text, task text, status text, queue text, concurrency_key text, version text, attempt integer, tags text[], machine text, region text, priority_ms integer, is_test boolean, parent_run_id text, root_run_id text, depth integer, schedule_id text, batch_id text, replay_of text, error_id text, created_at timestamptz, delayed_until timestamptz, started_at timestamptz, finished_at timestamptz, duration_ms bigint, erased_at timestamptz',
  schedule_ticks:
    'environment_id text, schedule_id text, nominal_at timestamptz, due_at timestamptz, fired_at timestamptz, is_backfill boolean, run_id text',
  schedules:
    'environment_id text, schedule_id text, type text, task text, cron text, timezone text, is_active boolean, next_at timestamptz, last_at timestamptz, last_run_id text, created_at timestamptz',
  steps:
    'environment_id text, run_id text, step text, kind text, status text, position integer, attempt integer, tries integer, started_at timestamptz, ended_at timestamptz',
  tasks: 'environment_id text, task text, version text, is_current boolean',
};

/** An engine with the views. Each test has its own roles, because roles belong to the whole cluster. */
async function installed() {
  const t = await testEngine();
  await t.sql.begin(installSqlViews);
  const reader = async (environments: Parameters<typeof grantSqlViews>[2]): Promise<Reader> => {
    const role = `reader_${randomBytes(6).toString('hex')}`;
    await t.sql.unsafe(`create role ${role}`);
    const closing: Sql = connect(t.database, { name: 'test', max: 1 });
    await closing.begin((tx) => grantSqlViews(tx, role, environments));
    onTestFinished(async () => {
      await closing.unsafe(`drop owned by ${role}; drop role ${role}`);
      await closing.end({ timeout: 1 });
    });
    return {
      role,
      read: <T extends object>(query: string) =>
        t.sql.begin(async (tx: Transaction) => {
          await tx.unsafe(`set local role ${role}`);
          return tx.unsafe<T[]>(query);
        }),
    };
  };
  return { t, reader };
}

interface Reader {
  readonly role: string;
  read<T extends object>(query: string): Promise<T[]>;
}

test('the names, types and order of the columns of version 1 never change', async () => {
  const { t } = await installed();
  const found: Record<string, string> = {};
  for (const { view, column, type } of await readColumns(t.sql))
    found[view] = `${found[view] === undefined ? '' : `${found[view]}, `}${column} ${type}`;
  expect(found).toEqual(columns);
});

test('no view reads payloads, outputs, metadata, keys or other data of tasks', async () => {
  const { t } = await installed();
  const leaks = await t.sql`
    select distinct v.relname || '.' || a.attname as name
      from pg_class v join pg_namespace n on n.oid = v.relnamespace and n.nspname = 'millrace_v1'
      join pg_rewrite w on w.ev_class = v.oid
      join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = w.oid and d.refobjsubid > 0
      join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
     where a.attname in ('payload', 'output', 'error', 'metadata', 'seed_metadata', 'event', 'digest', 'sealed', 'idempotency_key',
                         'sample', 'bundle', 'manifest', 'traceparent')`;
  expect(leaks).toHaveLength(0);
});

async function someRuns(t: TestEngine) {
  const { id: version } = await t.register('send', 'later');
  await t.addRunner('r');
  const done = await t.trigger('send', { tags: ['a', 'b'] });
  const [attempt] = await t.claim('r', [version], 1);
  await t.end(attempt!);
  const delayed = await t.trigger('later', { delay: '1h' });
  const pending = await t.trigger('unknown');
  const executing = await t.trigger('send', undefined, { secret: 'value' });
  await t.claim('r', [version], 1);
  const queued = await t.trigger('send', { concurrencyKey: 'ada' });
  return { done, delayed, pending, executing, queued };
}

test('a reader sees runs with their live status, and their attempts and queues', async () => {
  const { t, reader } = await installed();
  const { done, delayed, pending, executing, queued } = await someRuns(t);
  const { read } = await reader([t.environment.publicId]);
  expect(
    await read('select run_id, status, version, attempt, tags from millrace_v1.runs order by run_id'),
  ).toEqual([
    { run_id: done.id, status: 'COMPLETED', version: expect.any(String), attempt: 1, tags: ['a', 'b'] },
    { run_id: delayed.id, status: 'DELAYED', version: null, attempt: 0, tags: null },
    { run_id: pending.id, status: 'PENDING_VERSION', version: null, attempt: 0, tags: null },
    { run_id: executing.id, status: 'EXECUTING', version: expect.any(String), attempt: 1, tags: null },
    { run_id: queued.id, status: 'QUEUED', version: null, attempt: 0, tags: null },
  ]);
  expect(
    await read(
      'select run_id, attempt, status, duration_ms is null as live from millrace_v1.attempts order by run_id',
    ),
  ).toEqual([
    { run_id: done.id, attempt: 1, status: 'COMPLETED', live: false },
    { run_id: executing.id, attempt: 1, status: 'EXECUTING', live: true },
  ]);
  expect(
    await read(
      `select queue, executing::int, waiting::int from millrace_v1.queues where queue = 'task/send'`,
    ),
  ).toEqual([{ queue: 'task/send', executing: 1, waiting: 1 }]);
  expect(await read('select task, is_current from millrace_v1.tasks order by task')).toEqual([
    { task: 'later', is_current: true },
    { task: 'send', is_current: true },
  ]);
  // Every view can be read.
  for (const view of Object.keys(columns)) await read(`select * from millrace_v1.${view}`);
});

test('a reader sees only its environments and their branches, and none of the tables', async () => {
  const { t, reader } = await installed();
  await someRuns(t);
  const { projectId, id } = t.environment;
  const [other, branch] = [newId('env'), newId('env')];
  await t.sql`insert into environments (public_id, project_id, kind) values (${other}, ${projectId}, 'preview')`;
  await t.sql`
    insert into environments (public_id, project_id, kind, branch, parent_id)
    select ${branch}, ${projectId}, 'preview', 'b', id from environments where public_id = ${other}`;
  const ids = async ({ read }: Reader) =>
    (await read<{ id: string }>('select environment_id as id from millrace_v1.environments')).map(
      (row) => row.id,
    );
  const preview = await reader([other]);
  expect((await ids(preview)).toSorted()).toEqual([other, branch].toSorted());
  expect(await preview.read('select from millrace_v1.runs')).toHaveLength(0);
  const all = await reader('all');
  expect(await ids(all)).toHaveLength(3);
  expect(await all.read('select from millrace_v1.runs')).toHaveLength(5);
  for (const refused of [
    'select * from runs',
    'select * from sql_readers',
    `insert into sql_readers values (current_user, ${id})`,
    'delete from millrace_v1.runs',
    'create view millrace_v1.mine as select 1 as one',
  ]) {
    await expect(preview.read(refused), refused).rejects.toThrow(/permission denied|cannot delete/);
  }
  // A cheap function of the reader would otherwise be called with the rows of all environments.
  const leak = preview.read(`
    create function pg_temp.leak(text) returns boolean language plpgsql cost 0.0000001 as
      $$ begin raise exception 'leaked %', $1; end $$;
    select run_id from millrace_v1.runs where pg_temp.leak(task)`);
  await expect(leak).resolves.toBeDefined();
  // Once revoked, the views cannot be read.
  await t.sql.begin((tx) => revokeSqlViews(tx, all.role));
  await expect(all.read('select from millrace_v1.runs')).rejects.toThrow(/permission denied/);
});

test('rejects unknown roles and environments', async () => {
  const { t, reader } = await installed();
  const grant = (role: string, environments: string[]) =>
    t.sql.begin((tx) => grantSqlViews(tx, role, environments));
  await expect(grant('no"body', [t.environment.publicId])).rejects.toThrow(
    'The database has no role no"body. Create it first: create role "no""body" login',
  );
  const { role } = await reader([t.environment.publicId]);
  await expect(grant(role, ['env_x'])).rejects.toThrow('No environment has the id env_x.');
  await expect(t.sql.begin((tx) => revokeSqlViews(tx, 'no such role'))).rejects.toThrow('has no role');
});

test('run_id_at returns the id at which a time begins, and runs are read by it from their index', async () => {
  const { t, reader } = await installed();
  const { read } = await reader('all');
  for (const at of [0, 1_763_900_000_123, 2_000_000_000_000]) {
    const [row] = await read<{ id: string }>(
      `select millrace_v1.run_id_at(to_timestamp(${at / 1_000})) as id`,
    );
    const id = newTimedId('run', at);
    expect(id.startsWith(row!.id), `${row!.id} ${id}`).toBe(true);
  }
  const plan = await t.sql.begin(async (tx) => {
    await tx`set local enable_seqscan = off`;
    await tx`set local enable_bitmapscan = off`;
    return tx.unsafe<{ 'QUERY PLAN': string }[]>(
      `explain select count(*) from millrace_v1.runs where run_id >= millrace_v1.run_id_at(now() - interval '1 day')`,
    );
  });
  const text = plan.map((row) => row['QUERY PLAN']).join('\n');
  expect(text).toMatch(/Index Cond: \(\(env = i\.id\) AND \(id >= /);
});

test('a starting server updates installed views and keeps grants, but not those of a later release', async () => {
  const { t, reader } = await installed();
  const { read } = await reader('all');
  await t.sql`drop view millrace_v1.batches`;
  await migrate(t.sql);
  expect(await read('select from millrace_v1.batches')).toHaveLength(0);
  const comment = async () =>
    (
      await t.sql<
        { text: string }[]
      >`select obj_description('millrace_v1'::regnamespace, 'pg_namespace') as text`
    )[0]?.text;
  const own = await comment();
  await migrate(t.sql, { folder: await sqlRelease({ version: '99.0.0' }) });
  const later = await comment();
  expect(later).toMatch(/^Millrace 99\.0\.0 views, [0-9a-f]{16}$/);
  await migrate(t.sql);
  expect([await comment(), own === later]).toEqual([later, false]);
});

test('a database without the views stays without them', async () => {
  const t = await testEngine();
  await migrate(t.sql);
  expect(await t.sql`select from pg_namespace where nspname = 'millrace_v1'`).toHaveLength(0);
});
