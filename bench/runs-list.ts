/**
 * How long a page of `runs.list` takes: `node bench/runs-list.ts [runs] [filters]`, 1,000,000 by default, against an embedded PostgreSQL.
 * The runs are defined in runs-data.ts. For each filter: a hundred pages one after the other, and pages at random places.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listProjectRuns } from '../packages/contract/src/index.ts';
import { startPostgres } from '../packages/postgres/src/cluster/index.ts';
import { connect, type Sql } from '../packages/server/src/db/connect.ts';
import { migrate } from '../packages/server/src/db/migrate.ts';
import { listRuns } from '../packages/server/src/runs/list/list.ts';
import { idAt } from '../packages/server/src/runs/list/position.ts';
import { makeRuns, runDaysMs } from './data/runs.ts';

const total = Number(process.argv[2] ?? 1_000_000);
/** Only filters whose name has this text. */
const only = process.argv[3] ?? '';
const now = Date.now();
const start = now - runDaysMs;

async function build(sql: Sql): Promise<void> {
  await sql`insert into organizations (id, name) values ('o', 'o')`;
  await sql`insert into projects (ref, organization_id, name) values ('proj_x', 'o', 'p')`;
  await sql`insert into environments (public_id, project_id, kind) values ('e1', 1, 'prod'), ('e2', 1, 'stg')`;
  await makeRuns(sql, { env: 1, total, now });
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
    const at = idAt(start + ((n * 37) % 60) * (runDaysMs / 60));
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
