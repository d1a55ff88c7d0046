/**
 * Creates error groups in SQL, in the state that recording, tallying and compaction produce: the n-th fingerprint occurs 1/n as often as the
 * first, half of them for two days only, with a version a day. The last 30 days have all tallies, earlier days the last one of each hour. Runs
 * are left out, because lists of groups do not read them.
 */
import type { Sql } from '../../packages/server/src/db/connect.ts';
import { byHourUntil } from '../../packages/server/src/errors/counts/range.ts';

export interface Extent {
  /** An environment without errors. */
  readonly env: number;
  readonly occurrences: number;
  readonly groups: number;
  readonly tasks: number;
  readonly days: number;
  readonly now: Date;
}

const atOnce = 2_000_000;

export async function makeErrors(sql: Sql, extent: Extent): Promise<void> {
  const { env, groups, tasks, days, now } = extent;
  const start = new Date(now.getTime() - days * 86_400_000);
  await sql.unsafe(
    `set work_mem = '1GB'; set maintenance_work_mem = '2GB'; set max_parallel_maintenance_workers = 0`,
  );
  await sql`
    insert into versions (env, version, sequence, content_hash)
    select ${env}::int, to_char(${start}::timestamptz + n * interval '1 day', 'YYYYMMDD') || '.1', n + 1, n::text
      from generate_series(0, ${days}::int) n order by n`;
  await sql`
    insert into error_fingerprints (env, task, fingerprint, own_group, group_id)
    select ${env}::int, 't' || abs(hashint4(n)) % ${tasks}::int, 'm2-' || md5(n::text), id, id
      from (select n, 'error_' || left(md5('g' || n), 16) as id from generate_series(1, ${groups}::int) n) n order by n`;
  await sql`
    insert into error_samples (fingerprint_id, type, message, sample)
    select id, (array['Error','TypeError','RangeError','TimeoutError','AxiosError','ZodError'])[1 + id % 6],
           'The ' || w[1 + id % 20] || ' of ' || w[1 + id / 20 % 20] || ' failed in ' || w[1 + id / 400 % 20] || ' with '
             || left(md5(id::text), 6), '{}'
      from error_fingerprints, (select array['invoice','payment','socket','timeout','refused','parse','schema','tenant','stripe',
        'redis','quota','webhook','upload','image','export','ledger','cursor','session','mailer','search'] as w) w`;
  await makeTallies(sql, extent, start);
  await sql`
    insert into error_versions (env, fingerprint_id, version, total, first_seen, last_seen)
    select ${env}::int, fingerprint_id, version, max(version_total), min(at) as first_seen, max(at) from error_tallies group by 2, 3
     order by first_seen`;
  await makeRollUps(sql);
  await sql`
    update error_fingerprints f set total = t.total, first_seen = t.first, last_seen = t.last
      from (select fingerprint_id, max(total) as total, min(at) as first, max(at) as last from error_tallies group by 1) t
     where t.fingerprint_id = f.id`;
  await sql`
    insert into error_groups
      (env, id, fingerprint, number, task, type, message, total, first_seen, last_seen, status, resolved_at, ignored_at)
    select ${env}::int, f.group_id, f.fingerprint, f.id, f.task, s.type, s.message, f.total, f.first_seen, f.last_seen,
           case f.id % 10 when 0 then 'resolved' when 1 then 'ignored' else 'unresolved' end,
           case f.id % 10 when 0 then ${now}::timestamptz end, case f.id % 10 when 1 then ${now}::timestamptz end
      from error_fingerprints f join error_samples s on s.fingerprint_id = f.id`;
  await sql`
    insert into error_texts (env, group_id, number, type, message)
    select env, id, number, type, message from error_groups`;
  await sql`
    insert into error_compaction (env, hours_until) values (${env}, ${byHourUntil(now)})`;
  await sql.unsafe('vacuum analyze');
  await sql.unsafe('reset all');
}

async function makeTallies(sql: Sql, { env, occurrences, groups, now }: Extent, start: Date): Promise<void> {
  const [row] = await sql<{ weight: number }[]>`
    select sum(1.0 / id)::float8 as weight from generate_series(1, ${groups}::int) id`;
  const weight = row?.weight ?? Number.NaN;
  const parts = await sql<{ first: number; last: number }[]>`
    select min(id) as first, max(id) as last
      from (select id, floor(sum(${occurrences / weight}::float8 / id) over (order by id) / ${atOnce}) as part
              from generate_series(1, ${groups}::int) id) p group by part order by 1`;
  await sql`create unlogged table created (like error_tallies)`;
  for (const { first, last } of parts) {
    await sql`
      insert into created (env, fingerprint_id, at, version, n, total, version_total)
      select ${env}::int, id, at, version, n, sum(n) over (partition by id order by at, version),
             sum(n) over (partition by id, version order by at)
        from (
          select id, version, max(at) as at, count(*) as n
            from (
              select id, at, 1 + floor(extract(epoch from at - ${start}::timestamptz) / 86400)::int as version
                from (
                  select id, date_trunc('milliseconds', ${start}::timestamptz + case when id % 2 = 0
                           then id * 7919 % 88 * interval '1 day' + random() * interval '2 days'
                           else random() * interval '90 days' end) as at
                    from generate_series(${first}::int, ${last}::int) id
                   cross join lateral generate_series(1, greatest(1, round(${occurrences / weight}::float8 / id))::int)) o
               where at < ${now}) o
           group by id, version, case when at < ${byHourUntil(now)} then date_bin('1 hour', at, 'epoch') else at end) t`;
    process.stderr.write(`fingerprints up to ${last}\r`);
  }
  const [key] = await sql<{ name: string; definition: string }[]>`
    select conname as name, pg_get_constraintdef(oid) as definition from pg_constraint
     where conrelid = 'error_tallies'::regclass and contype = 'p'`;
  await sql.unsafe(`alter table error_tallies drop constraint ${key?.name}`);
  const indexes = await sql<{ name: string; definition: string }[]>`
    select indexname as name, indexdef as definition from pg_indexes where tablename = 'error_tallies'`;
  for (const { name } of indexes) await sql.unsafe(`drop index ${name}`);
  // in the order in which it happened
  await sql`insert into error_tallies select * from created order by at`;
  await sql`drop table created`;
  await sql.unsafe(`alter table error_tallies add constraint ${key?.name} ${key?.definition}`);
  for (const { definition } of indexes) await sql.unsafe(definition);
}

/** The sums that `tally_errors` maintains. */
async function makeRollUps(sql: Sql): Promise<void> {
  await sql`
    insert into error_hours (env, fingerprint_id, at, version, n)
    select env, fingerprint_id, date_bin('1 hour', at, 'epoch') as hour, version, sum(n) from error_tallies
     group by env, fingerprint_id, hour, version order by hour`;
  await sql`
    insert into error_days (env, fingerprint_id, at, version, n)
    select env, fingerprint_id, date_bin('1 day', at, 'epoch') as day, version, sum(n) from error_hours
     group by env, fingerprint_id, day, version order by day`;
  await sql`
    insert into error_weeks (env, fingerprint_id, at, n)
    select env, fingerprint_id, date_bin('7 days', at, '1970-01-05T00:00Z') as week, sum(n) from error_days
     group by env, fingerprint_id, week order by week`;
}
