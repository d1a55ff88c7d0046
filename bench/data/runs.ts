/**
 * The runs of 30 days, written by SQL into a migrated database without runs: 50 tasks of very different sizes, a version every 12 hours, tags that
 * many runs have and tags that few have, failures of the first 400 fingerprints (which are created if there are none), and a backlog in a paused queue.
 */
import type { Sql } from '../../packages/server/src/db/connect.ts';

export const runDaysMs = 30 * 86_400_000;

export interface RunsExtent {
  readonly env: number;
  readonly total: number;
  /** When the last run was created, in milliseconds since 1970. */
  readonly now: number;
}

const base36 = (ms: string): string =>
  Array.from({ length: 8 }, (_, place) => {
    const digit = `((${ms}) / ${36 ** (7 - place)}) % 36`;
    return `substr('0123456789abcdefghijklmnopqrstuvwxyz', (${digit})::int + 1, 1)`;
  }).join(' || ');

export async function makeRuns(sql: Sql, { env, total, now }: RunsExtent): Promise<void> {
  const [version] = await sql<{ first: number }[]>`
    with created as (
      insert into versions (env, version, sequence, content_hash)
      select ${env}::int, '2026.' || n, n + coalesce((select max(sequence) from versions where env = ${env}), 0), 'h' || n
        from generate_series(1, 61) n returning id)
    select min(id)::int as first from created`;
  await sql`
    insert into run_paths (env, path, created_at, backfilled_at)
    values (${env}, 'metadata.customer', now(), now()), (${env}, 'metadata.plan', now(), now())`;
  // 1 to 50 are the tasks' own queues, 51 is shared by some, 52 is paused.
  await sql`insert into queues (env, name) select ${env}::int, 'task/t' || n from generate_series(1, 50) n`;
  await sql`insert into queues (env, name, paused) values (${env}, 'shared', false), (${env}, 'paused', true)`;
  const step = 500_000;
  for (let from = 0; from < total; from += step) {
    const to = Math.min(total, from + step) - 1;
    // h and k are numbers that look random but are always the same: the n-th run's.
    await sql.unsafe(`
      insert into runs (env, id, task, status, queue_id, payload, output, version_id, attempt, sort_key, tags, machine, is_test,
                        schedule_id, created_at, started_at, finished_at, updated_at, duration_ms, path_facets)
      select ${env}::int, 'run_' || ${base36('ms')} || substr(md5(n::text), 1, 16), 't' || task, status,
             case when h % 10 = 0 then 51 when status is null then 52 else task end,
             '{"pad":"' || repeat('x', 160) || '"}', '1', case when status is not null then ${version?.first ?? 1} + (n * 61 / ${total}) end, 1, ms,
             case when h % 10 = 3 then array['popular', 'user:' || (h % 100000)] when n % 200000 = 7 then array['rare'] end,
             case when h % 100 = 9 then 'large-1x' end, h % 200 = 11, case when h % 20 = 5 then 'sched_' || (h % 1000) end,
             at, at, case when status is not null then at end, at, 100,
             array['path:1:=' || (h % 100000), 'path:2:=' || (k % 3)]
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
                     ${now - runDaysMs}::bigint + n * ${runDaysMs}::bigint / ${total} as ms
                from generate_series(${from}::bigint, ${to}) n) s) s`);
    process.stderr.write(`${to + 1} runs\r`);
  }
  await sql`insert into lanes (env, queue_id, key, pinned_version) values (${env}, 51, '', 0), (${env}, 52, '', 0)`;
  await sql`
    insert into queued (lane_id, sort_key, run_id, env)
    select l.id, r.sort_key, r.id, r.env from runs r join lanes l on l.queue_id = r.queue_id where r.env = ${env} and r.status is null`;
  await sql`
    insert into error_fingerprints (env, task, fingerprint, own_group, group_id)
    select ${env}::int, 'any', n::text, 'error_' || lpad(to_hex(n), 16, '0'), 'error_' || lpad(to_hex(n), 16, '0') from generate_series(0, 399) n
     where not exists (select from error_fingerprints)`;
  await sql`
    update runs set error_fingerprint_id = f.id from error_fingerprints f
     where status in ('FAILED', 'CRASHED') and f.id = 1 + abs(hashtext(runs.task || right(runs.id, 1))) % 400`;
  for (const facets of [
    `select 'own_queue_task:' || task, id from runs where queue_id = substr(task, 2)::int`,
    `select f, id from runs, unnest(array['other_queue_task:' || task, 'queue:' || queue_id]) f where queue_id <> substr(task, 2)::int`,
    `select 'version:' || version_id, id from runs where version_id is not null`,
    `select 'tag:' || tag, id from runs, unnest(tags) tag`,
    `select f, id from runs, unnest(path_facets) f`,
    `select 'machine:' || machine, id from runs where machine is not null`,
    `select 'test:true', id from runs where is_test`,
    `select 'schedule:' || schedule_id, id from runs where schedule_id is not null`,
    `select 'status:' || status, id from runs where status is not null`,
    `select 'task_status:' || status || ':' || task, id from runs where status <> 'COMPLETED'`,
    `select 'error:' || error_fingerprint_id, id from runs where error_fingerprint_id is not null`,
  ]) {
    await sql.unsafe(`
      insert into run_facets select distinct ${env}, f.facet, left(f.id, 10) from (${facets}) f (facet, id) on conflict do nothing`);
    process.stderr.write(`${facets.slice(7, 40)}\r`);
  }
  await sql.unsafe('vacuum analyze');
}
