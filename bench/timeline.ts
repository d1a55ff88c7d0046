/**
 * How long the timeline of a run takes: `node --conditions millrace-source bench/timeline.ts [children]`, 200 by default, against an embedded
 * PostgreSQL. The run has three attempts, two waits, 1,000 spans and 1,000 lines; each child has two attempts, a wait and ten lines. There are
 * 200,000 other runs. The time is of one answer, with its JSON, for the page that is asked for by default and for the largest one.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../packages/millrace/src/postgres/index.ts';
import { connect, type Sql } from '../packages/server/src/db/connect.ts';
import { migrate } from '../packages/server/src/db/migrate.ts';
import type { Engine } from '../packages/server/src/runs/engine.ts';
import { timelineOf } from '../packages/server/src/runs/timeline/timeline.ts';

const children = Number(process.argv[2] ?? 200);
const spansOfRun = 1_000;
const rounds = 100;
const run = 'run_mw000000root';

async function build(sql: Sql): Promise<void> {
  await sql`insert into queues (env, name) values (1, 'task/order'), (1, 'task/mail')`;
  await sql`insert into versions (env, version, sequence, content_hash) values (1, '20261123.1', 1, 'h')`;
  await sql`insert into runner_names (env, runner_id, host, pid, last_seen_at) values (1, 'runner_1', 'host-1', 7, now())`;
  await sql.unsafe(`
    insert into runs (env, id, task, status, queue_id, version_id, attempt, sort_key, created_at, started_at, finished_at, updated_at,
                      duration_ms, last_runner_no, parent_id, root_id, depth)
    select 1, id, task, 'COMPLETED', queue, 1, 1, 0, at, at, at + interval '20 s', at, 20000, 1, parent, root, depth
      from (
        select '${run}' as id, 'order' as task, 1 as queue, now() - interval '1 hour' as at, null as parent, null as root, 0 as depth
        union all
        select 'run_mw000001' || lpad(n::text, 8, '0'), 'mail', 2, now() - interval '59 minutes' + n * interval '1 ms', '${run}', '${run}', 1
          from generate_series(1, ${children}) n
        union all
        -- of other trees
        select 'run_mv' || lpad(n::text, 10, '0'), 'mail', 2, now() - interval '1 day', 'run_mu' || n / 20, 'run_mu' || n / 20, 1
          from generate_series(1, 200000) n) r`);
  await sql.unsafe(`
    insert into attempts (env, run_id, fence, number, outcome, started_at, ended_at, active_ms, runner_no, version_id, error, due)
    select 1, r.id, n, n, 'FAILED', r.created_at + n * interval '1 s', r.created_at + n * interval '2 s', 1000, 1, 1,
           '{"name":"Error","message":"no"}', r.created_at + n * interval '3 s'
      from runs r cross join generate_series(1, 2) n where r.id >= 'run_mw' and (n = 1 or r.id = '${run}')`);
  await sql.unsafe(`
    insert into waits (env, run_id, attempt, key, kind, created_at, over_at)
    select 1, r.id, 1, 'time/' || n, 'TIME', r.created_at + n * interval '1 s', r.created_at + n * interval '2 s'
      from runs r cross join generate_series(1, 2) n where r.id >= 'run_mw' and (n = 1 or r.id = '${run}')`);
  await sql.unsafe(`
    insert into run_logs (env, run_id, attempt, at, level, message)
    select 1, r.id, 1, r.created_at + n * interval '1 ms', 'info', 'line ' || n || repeat(' and more', 10)
      from runs r cross join generate_series(1, 1000) n where r.id >= 'run_mw' and (n <= 10 or r.id = '${run}')`);
  const at = (Date.now() - 3_600_000) * 1_000;
  const spans = Array.from({ length: spansOfRun }, (_, n) => ({
    id: (n + 1).toString(16).padStart(16, '0'),
    ...(n % 10 > 0 && { parent: n.toString(16).padStart(16, '0') }),
    name: 'pg.query:SELECT shop',
    kind: 'client',
    at: at + n * 1_000,
    took: 900,
    attributes: {
      'db.statement': 'select * from orders where id = $1',
      'db.system': 'postgresql',
      'db.name': 'shop',
    },
  }));
  for (let from = 0; from < spansOfRun; from += 100) {
    const part = spans.slice(from, from + 100);
    await sql`
      insert into run_spans (env, run_id, attempt, at, trace_id, count, dropped, size, spans)
      values (1, ${run}, 1, now() - interval '50 minutes', ${'a'.repeat(32)}, ${part.length}, 0, 0, ${JSON.stringify(part)})`;
  }
  await sql`analyze`;
}

const folder = await mkdtemp(join(tmpdir(), 'millrace-timeline-'));
const postgres = await startPostgres({ dataDir: folder });
const sql = connect(postgres.connection, { name: 'bench', max: 4 });
try {
  await migrate(sql);
  await build(sql);
  const engine = { sql, clock: { now: () => Date.now() } } as Engine;
  for (const [name, size, logs] of [
    ['by default', 100, 50],
    ['all children', 500, 50],
    ['all children, 500 lines', 500, 500],
  ] as const) {
    const times: number[] = [];
    let text = '';
    let entries = 0;
    for (let round = 0; round < rounds + 10; round++) {
      const begun = performance.now();
      const query = { depth: 2, logs, 'page[size]': size, 'page[after]': undefined };
      const timeline = await timelineOf(engine, 1, run, query, () => true);
      text = JSON.stringify(timeline);
      entries = timeline?.entries.length ?? 0;
      if (round >= 10) times.push(performance.now() - begun);
    }
    times.sort((a, b) => a - b);
    const ms = (share: number): string => (times[Math.floor(times.length * share)] ?? 0).toFixed(1);
    console.log(
      `${name}: p50 ${ms(0.5)} ms, p95 ${ms(0.95)} ms, ${entries} entries, ${Math.round(text.length / 1_000)} kB`,
    );
  }
} finally {
  await sql.end({ timeout: 1 });
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}
