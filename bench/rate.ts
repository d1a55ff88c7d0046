/**
 * The cost of a rate limit for claiming runs: `node bench/rate.ts [rounds] [runs] [keys]`. The same runs are claimed 100 at a time and
 * completed immediately, without a limit, with one that is never reached, under one key and spread over 100,000. The figures are processor
 * time of the PostgreSQL backend. Then runs under many keys wait for a limit of the whole queue: what each start costs.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../packages/postgres/src/cluster/index.ts';
import { connect, type Sql } from '../packages/server/src/db/connect.ts';
import { migrate } from '../packages/server/src/db/migrate.ts';
import { insertRuns } from '../packages/server/src/runs/create/insert.ts';
import { newRun } from './src/new-run.ts';

const rounds = Number(process.argv[2] ?? 3);
const runs = Number(process.argv[3] ?? 100_000);
const manyKeys = Number(process.argv[4] ?? 100_000);
const size = 100;

interface Rate {
  readonly limit: number;
  readonly period: number;
  readonly burst: number;
  readonly key?: 'concurrencyKey';
}

interface Side {
  readonly name: string;
  readonly keys: number;
  readonly rate: Rate | null;
  readonly sql: Sql;
  /** µs a run: of claims, of claims with completions, and of these with triggers. */
  readonly us: number[];
  readonly bothUs: number[];
  readonly allUs: number[];
}

async function prepare(sql: Sql, rate: Rate | null): Promise<void> {
  await migrate(sql);
  await sql`insert into organizations (id, name) values ('o', 'o')`;
  await sql`insert into projects (ref, organization_id, name) values ('proj_x', 'o', 'p')`;
  await sql`insert into environments (public_id, project_id, kind) values ('e1', 1, 'prod')`;
  await sql`insert into versions (env, version, sequence, content_hash) values (1, '20261121.1', 1, 'h')`;
  await sql`insert into current_versions values (1, 1)`;
  await sql`insert into queues (env, name, rate_limit) values (1, 'task/t', ${rate && JSON.stringify(rate)}::jsonb)`;
  await sql`insert into tasks values (1, 't', '{}')`;
  await sql`
    insert into runners (id, env, host, pid, connection, connected_at, expires_at)
    values ('r', 1, 'h', 1, 'c', now(), now() + interval '1 day')`;
}

/** The backend of the only connection: another one each time the connection was idle for a minute. */
async function backendOf(sql: Sql): Promise<number> {
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  return row!.pid;
}

/** Processor time of a process so far, in microseconds. */
const spent = async (pid: number): Promise<number> =>
  Number((await readFile(`/proc/${pid}/schedstat`, 'utf8')).split(' ')[0]) / 1_000;

async function trigger(sql: Sql, keys: number): Promise<void> {
  const payload = JSON.stringify({ pad: 'x'.repeat(160) });
  for (let at = 0; at < runs; at += 500) {
    const now = Date.now();
    const some = Array.from({ length: Math.min(500, runs - at) }, (_, n) => {
      const concurrencyKey = `key ${(at + n) % keys}`;
      return newRun({ task: 't', queueId: 1, concurrencyKey, pinnedVersion: 0, payload, now });
    });
    await insertRuns({ sql, clock: Date }, some);
  }
}

async function complete(sql: Sql, leased: readonly { run_id: string; fence: string }[]): Promise<void> {
  await sql`
    select count(*) from complete_attempts(now(), ${leased.map(() => 1)}::int[], ${leased.map((run) => run.run_id)}::text[],
      ${leased.map((run) => run.fence)}::bigint[], ${leased.map(() => 'COMPLETED')}::text[], ${leased.map(() => '1')}::text[],
      ${leased.map(() => 'application/json')}::text[], null, null, null)`;
}

async function round({ sql, keys, us, bothUs, allUs }: Side): Promise<void> {
  const triggering = await spent(await backendOf(sql));
  await trigger(sql, keys);
  const triggered = (await spent(await backendOf(sql))) - triggering;
  await sql`vacuum analyze`;
  const pid = await backendOf(sql);
  let cursor = '(-1,0,)';
  let cost = 0;
  let completing = 0;
  for (let claimed = 0; claimed < runs;) {
    const before = await spent(pid);
    const rows = await sql<{ run_id: string; fence: string; next_cursor: string }[]>`
      select * from claim_runs(1, 'r', '{0,1}', 1, ${size}, ${cursor}::ring_cursor, now())`;
    cost += (await spent(pid)) - before;
    if (rows.length === 0) throw new Error(`${claimed} of ${runs} runs were claimed`);
    cursor = rows[0]?.next_cursor ?? cursor;
    claimed += rows.length;
    const claimedAt = await spent(pid);
    await complete(sql, rows);
    completing += (await spent(pid)) - claimedAt;
  }
  us.push(cost / runs);
  bothUs.push((cost + completing) / runs);
  allUs.push((cost + completing + triggered) / runs);
}

/** Many keys wait for a limit of their whole queue: the cost of a start, and of the claim that finds all of them ready. */
async function waiting(sql: Sql): Promise<{ first: number; us: number }> {
  await trigger(sql, manyKeys);
  const pid = await backendOf(sql);
  let before = await spent(pid);
  await complete(sql, await sql`select * from claim_runs(1, 'r', '{0,1}', 1, ${size}, '(-1,0,)', now())`);
  const first = ((await spent(pid)) - before) / 1_000;
  let starts = 0;
  before = await spent(pid);
  const until = Date.now() + 10_000;
  while (Date.now() < until) {
    await sql`select release_rate_limited(1000)`;
    const rows = await sql<{ run_id: string; fence: string }[]>`
      select * from claim_runs(1, 'r', '{0,1}', 1, ${size}, '(-1,0,)', now())`;
    starts += rows.length;
    // As the promoter does, which has a timer.
    const [next] = await sql<{ ms: number | null }[]>`
      select extract(epoch from due - rate_now())::float8 * 1000 as ms from queue_starts where due is not null order by due limit 1`;
    const pauseMs = Math.max(1, next?.ms ?? 1);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  return { first, us: ((await spent(pid)) - before) / starts };
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
const postgres = await startPostgres({ dataDir: folder });
const create = async (name: string, rate: Rate | null): Promise<Sql> => {
  const admin = connect(postgres.connection, { name: 'bench', max: 1 });
  await admin.unsafe(`create database ${name}`);
  await admin.end();
  const sql = connect({ ...postgres.connection, database: name }, { name: 'bench', max: 1 });
  await prepare(sql, rate);
  return sql;
};
try {
  const wide: Rate = { limit: 1_000_000, period: 1, burst: 1_000_000 };
  const each: Rate = { ...wide, key: 'concurrencyKey' };
  const sides: Side[] = [];
  for (const [name, keys, rate] of [
    ['no limit, one key', 1, null],
    ['limit of the queue, one key', 1, wide],
    ['limit of each key, one key', 1, each],
    [`no limit, ${manyKeys} keys`, manyKeys, null],
    [`limit of the queue, ${manyKeys} keys`, manyKeys, wide],
    [`limit of each key, ${manyKeys} keys`, manyKeys, each],
  ] as const)
    sides.push({
      name,
      keys,
      rate,
      sql: await create(`rate_${sides.length}`, rate),
      us: [],
      bothUs: [],
      allUs: [],
    });
  // In turn, so that other load on the machine affects all.
  for (let n = 0; n < rounds; n++) for (const side of sides) await round(side);
  /** Against another side of the same round. */
  const against = (
    side: Side,
    what: 'us' | 'bothUs' | 'allUs',
    matches: (other: Side) => boolean,
  ): string => {
    const other = sides.find(matches);
    return median(side[what].map((us, n) => us / (other?.[what][n] ?? Number.NaN))).toFixed(2);
  };
  console.table(
    sides.map((side) => {
      const free = (other: Side): boolean => other.keys === side.keys && other.rate === null;
      const isBaseline = (other: Side): boolean => other.keys === 1 && other.rate === side.rate;
      return {
        '': side.name,
        'claim, µs a run': median(side.us).toFixed(1),
        'against no limit': against(side, 'us', free),
        'against one key': against(side, 'us', isBaseline),
        'and completed, µs': median(side.bothUs).toFixed(1),
        'both against no limit': against(side, 'bothUs', free),
        'both against one key': against(side, 'bothUs', isBaseline),
        'and triggered, µs': median(side.allUs).toFixed(1),
        'all against one key': against(side, 'allUs', isBaseline),
      };
    }),
  );
  for (const rate of [
    { limit: 100, period: 1, burst: 1 },
    { limit: 1_000, period: 1, burst: 100 },
  ]) {
    const sql = await create(`waiting_${rate.burst}`, rate);
    const { first, us } = await waiting(sql);
    console.log(
      `${runs} runs of ${manyKeys} keys wait for ${rate.limit} a second, ${rate.burst} at once: first claim ${first.toFixed(0)} ms, then ${us.toFixed(0)} µs a start`,
    );
    await sql.end();
  }
  await Promise.all(sides.map(({ sql }) => sql.end()));
} finally {
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}
