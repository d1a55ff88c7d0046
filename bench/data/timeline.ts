/**
 * A run an hour ago, written by SQL into a migrated database: three attempts, two waits, 1,000 spans and 1,000 lines. Each run below it has two
 * attempts, a wait and ten lines.
 */
import type { Sql } from '../../packages/server/src/db/connect.ts';

const spansOfRun = 1_000;

/** Returns the id of the run. */
export async function makeTimeline(sql: Sql, env: number, children: number): Promise<string> {
  const run = 'run_mw000000root';
  const idOf = async (text: Promise<{ id: number }[]>): Promise<number> => (await text)[0]?.id ?? 0;
  const order = await idOf(sql`insert into queues (env, name) values (${env}, 'task/order') returning id`);
  const mail = await idOf(sql`insert into queues (env, name) values (${env}, 'task/mail') returning id`);
  const version = await idOf(sql`
    insert into versions (env, version, sequence, content_hash) values (${env}, '20250101.1', 1000, 'h') returning id`);
  const runner = await idOf(sql`
    insert into runner_names (env, runner_id, host, pid, last_seen_at) values (${env}, 'runner_1', 'host-1', 7, now()) returning no as id`);
  await sql.unsafe(`
    insert into runs (env, id, task, status, queue_id, version_id, attempt, sort_key, created_at, started_at, finished_at, updated_at,
                      duration_ms, last_runner_no, parent_id, root_id, depth)
    select ${env}, id, task, 'COMPLETED', queue, ${version}, 1, 0, at, at, at + interval '20 s', at, 20000, ${runner}, parent, root, depth
      from (
        select '${run}' as id, 'order' as task, ${order} as queue, now() - interval '1 hour' as at, null as parent, null as root, 0 as depth
        union all
        select 'run_mw000001' || lpad(n::text, 8, '0'), 'mail', ${mail}, now() - interval '59 minutes' + n * interval '1 ms', '${run}', '${run}',
               1
          from generate_series(1, ${children}) n) r`);
  const ofTree = `r.env = ${env} and (r.id = '${run}' or r.parent_id = '${run}')`;
  await sql.unsafe(`
    insert into attempts (env, run_id, fence, number, outcome, started_at, ended_at, active_ms, runner_no, version_id, error, due)
    select ${env}, r.id, n, n, 'FAILED', r.created_at + n * interval '1 s', r.created_at + n * interval '2 s', 1000, ${runner}, ${version},
           '{"name":"Error","message":"no"}', r.created_at + n * interval '3 s'
      from runs r cross join generate_series(1, 2) n where ${ofTree} and (n = 1 or r.id = '${run}')`);
  await sql.unsafe(`
    insert into waits (env, run_id, attempt, key, kind, created_at, over_at)
    select ${env}, r.id, 1, 'time/' || n, 'TIME', r.created_at + n * interval '1 s', r.created_at + n * interval '2 s'
      from runs r cross join generate_series(1, 2) n where ${ofTree} and (n = 1 or r.id = '${run}')`);
  await sql.unsafe(`
    insert into run_logs (env, run_id, attempt, at, level, message)
    select ${env}, r.id, 1, r.created_at + n * interval '1 ms', 'info', 'line ' || n || repeat(' and more', 10)
      from runs r cross join generate_series(1, 1000) n where ${ofTree} and (n <= 10 or r.id = '${run}')`);
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
      values (${env}, ${run}, 1, now() - interval '50 minutes', ${'a'.repeat(32)}, ${part.length}, 0, 0, ${JSON.stringify(part)})`;
  }
  return run;
}
