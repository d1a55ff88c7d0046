/**
 * How long a page of `runs.list` takes: `node bench/runs-list.ts [runs] [filters]`, 1,000,000 by default, against an embedded PostgreSQL.
 * The runs of 30 days are written by SQL: 50 tasks of very different sizes, a version every 12 hours, tags that many runs have and
 * tags that few have, failures, and a backlog in a paused queue. For each filter: a hundred pages one after the other, and pages
 * at random places.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listProjectRuns } from '../packages/contract/src/index.ts';
import { startPostgres } from '../packages/millrace/src/postgres/index.ts';
import { connect, type Sql } from '../packages/server/src/db/connect.ts';
import { migrate } from '../packages/server/src/db/migrate.ts';
import { listRuns } from '../packages/server/src/runs/list/list.ts';
import { idAt } from '../packages/server/src/runs/list/position.ts';

const total = Number(process.argv[2] ?? 1_000_000);
/** Only filters whose name has this text. */
const only = process.argv[3] ?? '';
const daysMs = 30 * 86_400_000;
const now = Date.now();
const start = now - daysMs;

const base36 = (ms: string): string =>
  Array.from({ length: 8 }, (_, place) => {
    const digit = `((${ms}) / ${36 ** (7 - place)}) % 36`;
    return `substr('0123456789abcdefghijklmnopqrstuvwxyz', (${digit})::int + 1, 1)`;
  }).join(' || ');

async function build(sql: Sql): Promise<void> {
  await sql`insert into organizations (id, name) values ('o', 'o')`;
  await sql`insert into projects (ref, organization_id, name) values ('proj_x', 'o', 'p')`;
  await sql`insert into environments (public_id, project_id, kind) values ('e1', 1, 'prod'), ('e2', 1, 'stg')`;
  await sql`
    insert into versions (env, version, sequence, content_hash)
    select 1, '2026.' || n, n, 'h' || n from generate_series(1, 61) n`;
  await sql`
    insert into run_paths (env, path, created_at, backfilled_at)
    values (1, 'metadata.customer', now(), now()), (1, 'metadata.plan', now(), now())`;
  // 1 to 50 are the tasks' own queues, 51 is shared by some, 52 is paused.
  await sql`insert into queues (env, name) select 1, 'task/t' || n from generate_series(1, 50) n`;
  await sql`insert into queues (env, name, paused) values (1, 'shared', false), (1, 'paused', true)`;
  const step = 500_000;
  for (let from = 0; from < total; from += step) {
    const to = Math.min(total, from + step) - 1;
    // h and k are numbers that look random but are always the same: the n-th run's.
    await sql.unsafe(`
      insert into runs (env, id, task, status, queue_id, payload, output, version_id, attempt, sort_key, tags, machine, is_test,
                        schedule_id, created_at, started_at, finished_at, updated_at, duration_ms, path_facets)
      select 1, 'run_' || ${base36('ms')} || substr(md5(n::text), 1, 16), 't' || task, status,
             case when h % 10 = 0 then 51 when status is null then 52 else task end,
             '{"pad":"' || repeat('x', 160) || '"}', '1', case when status is not null then 1 + (n * 61 / ${total}) end, 1, ms,
             case when h % 10 = 3 then array['popular', 'user:' || (h % 100000)] when n % 200000 = 7 then array['rare'] end,
             case when h % 100 = 9 then 'large-1x' end, h % 200 = 11, case when h % 20 = 5 then 'sched_' || (h % 1000) end,
             at, at, case when status is not null then at end, at, 100,
             array['p:1:=' || (h % 100000), 'p:2:=' || (k % 3)]
        from (
          select n, h, k, ms, to_timestamp(ms / 1000.0) as at,
                 case when n % 100000 = 50 then 50 else 1 + floor(power(k / 1000 % 1000 / 1000.0, 4) * 49)::int end as task,
                 -- a day's backlog two days ago, and failures
                 case when n between ${Math.floor(total * 0.9)} and ${Math.floor(total * 0.93)} and h % 2 = 0 then null
                      when n % 500000 = 77 then 'CRASHED'
                      when k % 1000 < 30 then 'FAILED' when k % 1000 < 40 then 'CANCELED' when k % 1000 < 45 then 'EXPIRED'
                      else 'COMPLETED' end as status
            from (
              select n, ('x' || substr(md5('h' || n), 1, 7))::bit(28)::int as h,
                     ('x' || substr(md5('h' || n), 8, 7))::bit(28)::int as k,
                     ${start}::bigint + n * ${daysMs}::bigint / ${total} as ms
                from generate_series(${from}::bigint, ${to}) n) s) s`);
    process.stderr.write(`${to + 1} runs\r`);
  }
  await sql`insert into lanes (env, queue_id, key, pinned_version) values (1, 51, '', 0), (1, 52, '', 0)`;
  await sql`
    insert into queued (lane_id, sort_key, run_id, env)
    select l.id, r.sort_key, r.id, 1 from runs r join lanes l on l.queue_id = r.queue_id where r.env = 1 and r.status is null`;
  await sql`
    insert into error_fingerprints (env, task, fingerprint, own_group, group_id)
    select 1, 'any', n::text, 'error_' || lpad(to_hex(n), 16, '0'), 'error_' || lpad(to_hex(n), 16, '0') from generate_series(0, 399) n`;
  await sql`
    update runs set error_fingerprint_id = f.id from error_fingerprints f
     where status in ('FAILED', 'CRASHED') and f.fingerprint = (abs(hashtext(runs.task || right(runs.id, 1))) % 400)::text`;
  for (const facets of [
    `select 'o:' || task, id from runs where queue_id = substr(task, 2)::int`,
    `select f, id from runs, unnest(array['t:' || task, 'q:' || queue_id]) f where queue_id <> substr(task, 2)::int`,
    `select 'v:' || version_id, id from runs where version_id is not null`,
    `select 'g:' || tag, id from runs, unnest(tags) tag`,
    `select f, id from runs, unnest(path_facets) f`,
    `select 'm:' || machine, id from runs where machine is not null`,
    `select 'd', id from runs where is_test`,
    `select 'c:' || schedule_id, id from runs where schedule_id is not null`,
    `select 's:' || status, id from runs where status is not null`,
    `select 'e:' || status || ':' || task, id from runs where status <> 'COMPLETED'`,
    `select 'x:' || error_fingerprint_id, id from runs where error_fingerprint_id is not null`,
  ]) {
    await sql.unsafe(`
      insert into run_facets select distinct 1, f.facet, left(f.id, 10) from (${facets}) f (facet, id) on conflict do nothing`);
    process.stderr.write(`${facets.slice(7, 40)}\r`);
  }
  await sql.unsafe('vacuum analyze');
}

const quantile = (values: readonly number[], share: number): string =>
  (values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? Number.NaN).toFixed(1);

const filters: readonly [string, Record<string, string>][] = [
  ['none', {}],
  ['status=COMPLETED', { 'filter[status]': 'COMPLETED' }],
  ['status=FAILED', { 'filter[status]': 'FAILED' }],
  ['status=CRASHED (2 in a million)', { 'filter[status]': 'CRASHED' }],
  ['status=QUEUED (a backlog of 1.5 %)', { 'filter[status]': 'QUEUED' }],
  ['status=EXECUTING (none)', { 'filter[status]': 'EXECUTING' }],
  ['task, the largest', { 'filter[taskIdentifier]': 't1' }],
  ['task, middling', { 'filter[taskIdentifier]': 't30' }],
  ['task, 10 in a million', { 'filter[taskIdentifier]': 't50' }],
  ['twenty tasks', { 'filter[taskIdentifier]': Array.from({ length: 20 }, (_, n) => `t${n + 10}`).join() }],
  ['version of 12 hours', { 'filter[version]': '2026.20' }],
  ['current version', { 'filter[version]': '2026.61' }],
  ['tag of every tenth run', { 'filter[tag]': 'popular' }],
  ['tag of one user', { 'filter[tag]': 'user:3203' }],
  ['tag, 5 in a million', { 'filter[tag]': 'rare' }],
  ['declared path, one of 100,000 values', { 'filter[metadata]': '{"customer":3203}' }],
  ['declared path, one of 3 values', { 'filter[metadata]': '{"plan":1}' }],
  ['two declared paths', { 'filter[metadata]': '{"plan":1,"customer":[3203,3204]}' }],
  ['declared path, a value that no run has', { 'filter[metadata]': '{"plan":9}' }],
  ['FAILED with a declared path', { 'filter[status]': 'FAILED', 'filter[metadata]': '{"plan":1}' }],
  ['queue of a task', { 'filter[queue]': 'task/t5' }],
  ['shared queue', { 'filter[queue]': 'shared' }],
  ['machine', { 'filter[machine]': 'large-1x' }],
  ['isTest=true', { 'filter[isTest]': 'true' }],
  ['isTest=false', { 'filter[isTest]': 'false' }],
  ['schedule', { 'filter[schedule]': 'sched_505' }],
  ['error group', { 'filter[error]': 'error_0000000000000010' }],
  ['batch (none)', { 'filter[batch]': 'batch_1' }],
  ['FAILED of a task', { 'filter[status]': 'FAILED', 'filter[taskIdentifier]': 't30' }],
  [
    'COMPLETED of a task with a tag',
    { 'filter[status]': 'COMPLETED', 'filter[taskIdentifier]': 't40', 'filter[tag]': 'popular' },
  ],
  [
    'two tags of which no run has both',
    { 'filter[tag]': 'popular', 'filter[machine]': 'large-1x', 'filter[status]': 'COMPLETED' },
  ],
  ['FAILED with a machine', { 'filter[status]': 'FAILED', 'filter[machine]': 'large-1x' }],
  [
    'an hour of a task',
    {
      'filter[createdAt][from]': String(now - 9e8),
      'filter[createdAt][to]': String(now - 8.964e8),
      'filter[taskIdentifier]': 't30',
    },
  ],
];

async function measure(sql: Sql, name: string, filter: Record<string, string>, envs: readonly number[]) {
  const range = 'filter[createdAt][from]' in filter ? {} : { 'filter[createdAt][period]': '40d' };
  const page = async (place: Record<string, string>) => {
    const query = listProjectRuns.query.parse({ ...range, ...filter, ...place });
    const started = performance.now();
    const reply = await listRuns(sql, { envs, query, now });
    return { ms: performance.now() - started, reply };
  };
  // Prepared and warm.
  for (let n = 0; n < 6; n++) await page({});
  const first: number[] = [];
  for (let n = 0; n < 30; n++) first.push((await page({})).ms);
  const chain: number[] = [];
  let rows = 0;
  for (let after: string | undefined; chain.length < 100;) {
    const { ms, reply } = await page(after === undefined ? {} : { 'page[after]': after });
    chain.push(ms);
    rows += reply.data.length;
    after = reply.pagination.next;
    if (after === undefined) break;
  }
  const anywhere: number[] = [];
  for (let n = 0; n < 60; n++) {
    const at = idAt(start + ((n * 37) % 60) * (daysMs / 60));
    anywhere.push((await page({ [n % 3 === 0 ? 'page[before]' : 'page[after]']: `${at}0` })).ms);
  }
  const every = [...first, ...chain, ...anywhere];
  return {
    filter: name,
    rows,
    pages: chain.length,
    'first p50': quantile(first, 0.5),
    'last ten p50': quantile(chain.slice(-10), 0.5),
    'anywhere p50': quantile(anywhere, 0.5),
    'all p99, ms': quantile(every, 0.99),
    'max, ms': quantile(every, 1),
  };
}

const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
const postgres = await startPostgres({ dataDir: folder, settings: { max_wal_size: '8GB' } });
try {
  const sql = connect(postgres.connection, { name: 'bench', max: 2 });
  await migrate(sql);
  const began = performance.now();
  await build(sql);
  const [sizes] = await sql<Record<string, string>[]>`
    select pg_size_pretty(pg_total_relation_size('runs')) as runs, pg_size_pretty(pg_total_relation_size('run_facets')) as facets,
           (select count(*) from run_facets) as facet_rows`;
  console.log(`${total} runs in ${((performance.now() - began) / 1_000).toFixed(0)} s:`, sizes);
  const results = [];
  for (const [name, filter] of filters.filter(([each]) => each.includes(only)))
    results.push(await measure(sql, name, filter, [1]));
  results.push(await measure(sql, 'none, two environments', {}, [1, 2]));
  results.push(await measure(sql, 'FAILED, two environments', { 'filter[status]': 'FAILED' }, [1, 2]));
  console.table(results);
  await sql.end();
} finally {
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}
