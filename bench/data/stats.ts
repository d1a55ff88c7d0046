/** Roll-ups of an environment with 10 million runs in `tasks` tasks and queues: 2 days by the minute, 90 by the hour and 730 by the day. */
import type { Sql } from '../../packages/server/src/db/connect.ts';

export async function makeRollUps(sql: Sql, env: number, tasks: number): Promise<void> {
  for (const [width, count] of [
    [1, 2_880],
    [5, 576],
    [60, 2_160],
    [360, 360],
    [1_440, 730],
  ] as const) {
    await sql.unsafe(`
      insert into run_stats (env, width, series, at, triggered, completed, failed, retried, waited_from, waited, waited_ms, lasted_from, lasted, lasted_ms, max_waiting)
      select ${env}, ${width}, s.series, date_bin('${width} min', now(), 'epoch') - n * interval '${width} min', h, h, h / 50, h / 30,
             -40, b.counts, h * 100, -30, b.counts, h * 300, case when s.series like 't:%' then null else h % 900 end
        from generate_series(0, ${count - 1}) n
       cross join (select 'a' as series union all select 't:t' || i from generate_series(1, ${tasks}) i
                   union all select 'q:task/t' || i from generate_series(1, ${tasks}) i
                   union all select 'v:2026.' || i from generate_series(1, 2) i) s
       cross join lateral (select abs(hashtext(s.series || n)) % 400 + 1 as h) h
       cross join lateral (
         select array_agg(h / 15 + i % 3) as counts from generate_series(1, 30) i) b`);
  }
  await sql`analyze run_stats`;
}
