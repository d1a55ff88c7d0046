/**
 * The cost of run lists for writing runs: `node bench/runs-write.ts [rounds] [size]`. Runs are triggered, claimed
 * and completed in flushes of `size`, 500 by default, against an embedded PostgreSQL, with the indexes for lists and, in turn, without them.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../packages/postgres/src/cluster/index.ts';
import { connect, type Sql } from '../packages/server/src/db/connect.ts';
import { migrate } from '../packages/server/src/db/migrate.ts';
import { insertRuns } from '../packages/server/src/runs/create/insert.ts';
import { newRun } from './src/new-run.ts';

const rounds = Number(process.argv[2] ?? 6);
const size = Number(process.argv[3] ?? 500);
const flushes = size >= 100 ? 40 : 1_000;

interface Figures {
  trigger: number[];
  claim: number[];
  complete: number[];
  hot: number[];
}

async function prepare(sql: Sql): Promise<void> {
  await migrate(sql);
  await sql`insert into organizations (id, name) values ('o', 'o')`;
  await sql`insert into projects (ref, organization_id, name) values ('proj_x', 'o', 'p')`;
  await sql`insert into environments (public_id, project_id, kind) values ('e1', 1, 'prod')`;
  await sql`insert into versions (env, version, sequence, content_hash) values (1, '20261121.1', 1, 'x')`;
  await sql`insert into current_versions values (1, 1)`;
  for (let n = 0; n < 20; n++) {
    await sql`insert into queues (env, name) values (1, ${`task/t${n}`})`;
    await sql`insert into tasks values (1, ${`t${n}`}, '{}')`;
  }
  await sql`
    insert into runners (id, env, host, pid, connection, connected_at, expires_at)
    values ('r', 1, 'h', 1, 'c', now(), now() + interval '1 day')`;
}

/** The functions without their writes for lists. */
async function withoutLists(sql: Sql): Promise<void> {
  await sql.unsafe('drop index pending_version_by_run, delayed_first, delayed_again');
  for (const name of ['record_new_facets', 'complete_attempts']) {
    const [row] = await sql<{ text: string }[]>`select pg_get_functiondef(${name}::regproc) as text`;
    const text =
      row?.text.replaceAll(
        /\n {2}(?:with kinds as|insert into run_facets)[\s\S]*?on conflict do nothing;/g,
        '',
      ) ?? '';
    if (text === row?.text) throw new Error(`${name} does not write facets as this bench expects`);
    await sql.unsafe(text);
  }
}

async function hotShare(sql: Sql): Promise<{ updates: number; hot: number }> {
  await sql`select pg_stat_force_next_flush()`;
  const [row] = await sql<{ updates: string; hot: string }[]>`
    select n_tup_upd as updates, n_tup_hot_upd as hot from pg_stat_user_tables where relname = 'runs'`;
  return { updates: Number(row?.updates), hot: Number(row?.hot) };
}

async function round(sql: Sql, figures: Figures): Promise<void> {
  const before = await hotShare(sql);
  const payload = JSON.stringify({ pad: 'x'.repeat(160) });
  const us = (from: number) => ((performance.now() - from) * 1_000) / (flushes * size);
  let started = performance.now();
  for (let flush = 0; flush < flushes; flush++) {
    const now = Date.now();
    const runs = Array.from({ length: size }, (_, n) =>
      newRun({ task: `t${n % 20}`, queueId: (n % 20) + 1, payload, now }),
    );
    await insertRuns({ sql, clock: Date }, runs);
  }
  figures.trigger.push(us(started));

  const fences: { run: string; fence: string }[] = [];
  let cursor = '(-1,0,)';
  started = performance.now();
  for (let flush = 0; flush < flushes; flush++) {
    const rows = await sql<{ run_id: string; fence: string; next_cursor: string }[]>`
      select * from claim_runs(1, 'r', array[0, 1], 1, ${size}, ${cursor}::ring_cursor, now())`;
    cursor = rows[0]?.next_cursor ?? cursor;
    for (const row of rows) fences.push({ run: row.run_id, fence: row.fence });
  }
  figures.claim.push(us(started));

  started = performance.now();
  for (let at = 0; at < fences.length; at += size) {
    const some = fences.slice(at, at + size);
    await sql`
      select count(*) from complete_attempts(now(), ${some.map(() => 1)}::int[], ${some.map((run) => run.run)}::text[],
        ${some.map((run) => run.fence)}::bigint[], ${some.map(() => 'COMPLETED')}::text[], ${some.map(() => '1')}::text[],
        ${some.map(() => 'application/json')}::text[], null, null, null)`;
  }
  figures.complete.push(us(started));
  const after = await hotShare(sql);
  figures.hot.push((after.hot - before.hot) / (after.updates - before.updates));
}

const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
const postgres = await startPostgres({ dataDir: folder });
const median = (values: number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
try {
  const sides: [string, Sql, Figures][] = [];
  for (const name of ['with', 'without']) {
    const admin = connect(postgres.connection, { name: 'bench', max: 1 });
    await admin.unsafe(`create database ${name}_lists`);
    await admin.end();
    const sql = connect({ ...postgres.connection, database: `${name}_lists` }, { name: 'bench', max: 1 });
    await prepare(sql);
    if (name === 'without') {
      await withoutLists(sql);
    }
    sides.push([name, sql, { trigger: [], claim: [], complete: [], hot: [] }]);
  }
  // In turn, so that other load on the machine affects both.
  for (let n = 0; n < rounds; n++) for (const [, sql, figures] of sides) await round(sql, figures);
  console.table(
    sides.map(([lists, , figures]) => ({
      lists,
      'trigger, µs a run': median(figures.trigger).toFixed(1),
      'claim, µs a run': median(figures.claim).toFixed(1),
      'complete, µs a run': median(figures.complete).toFixed(1),
      'HOT updates': `${(median(figures.hot) * 100).toFixed(1)} %`,
    })),
  );
  await Promise.all(sides.map(([, sql]) => sql.end()));
} finally {
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}
