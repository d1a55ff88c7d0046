import { connect, type Database, type Sql } from '../../packages/server/src/db/connect.ts';
import { migrate } from '../../packages/server/src/db/migrate.ts';
import { idAt } from '../../packages/server/src/runs/list/position.ts';
import { fleetSampler } from '../../packages/server/src/telemetry/stats/sample.ts';
import { createRunStats } from '../../packages/server/src/telemetry/stats/record.ts';

const dayMs = 86_400_000;

/** A PostgreSQL database, sorted by the rules of a library version other than the installed one. */
export async function seedDatabase(admin: Sql, database: Database): Promise<void> {
  await admin.unsafe(
    `create database faulty template template0 encoding 'UTF8' locale 'C' locale_provider icu icu_locale 'en'`,
  );
  const sql = connect(database, { name: 'seed', max: 1 });
  await migrate(sql);
  await seedInstallation(sql);
  await sql.unsafe(`
    insert into migrations (name) values ('9999_future.sql');
    do $$ begin execute 'drop function ' || (select oid::regprocedure from pg_proc where proname = 'free_slots'); end $$;
    drop extension if exists pg_trgm cascade;
    insert into run_logs (env, run_id, attempt, at, level, message)
      select 0, 'run_1', 1, now(), 'info', 'line' from generate_series(1, 1000);
    insert into idempotency_keys (env, task, key, run_id, expires_at)
      select 0, 't', 'key ' || n, 'run_1', now() from generate_series(1, 20000) n;
    delete from run_logs where env = 0;
    delete from idempotency_keys where key <> 'key 20000';`);
  await sql.unsafe('vacuum (analyze, truncate off) idempotency_keys');
  await sql.unsafe('select pg_stat_force_next_flush()');
  await sql.end();
  await admin.unsafe(`
    alter database faulty set statement_timeout = '2s';
    update pg_database set datcollversion = '1' where datname = 'faulty';`);
}

/** Runs, runners, a schedule and an endpoint with faults. */
async function seedInstallation(sql: Sql): Promise<void> {
  const [environment] = await sql<{ id: number }[]>`
    with organization as (insert into organizations (id, name) values ('org_faulty', 'Faulty') returning id),
         project as (insert into projects (ref, organization_id, name) select 'proj_faulty', id, 'Faulty' from organization returning id)
    insert into environments (public_id, project_id, kind) select 'env_faulty', id, 'prod' from project returning id`;
  const env = environment?.id ?? 0;
  const now = Date.now();
  const run = (ms: number): string => `${idAt(ms)}0000000000`;
  const [waiting, ended] = [run(now - 600_000), run(now - 100 * dayMs)];
  await sql`
    with queue as (insert into queues (env, name) values (${env}, 'task/mail') returning id),
         lane as (insert into lanes (env, queue_id, key, pinned_version) select ${env}::int, id, '', 0 from queue returning id),
         waits as (insert into queued (lane_id, sort_key, run_id, env)
                   select id, ${now - 600_000}::bigint, ${waiting}::text, ${env}::int from lane)
    insert into runs (env, id, task, queue_id, sort_key, created_at, status, started_at, finished_at)
    select ${env}::int, r.id, 'mail', queue.id, 0, r.at, r.status, r.at, case when r.status is not null then r.at end
      from queue, (values (${waiting}::text, ${new Date(now - 600_000)}::timestamptz, null),
                          (${ended}::text, ${new Date(now - 100 * dayMs)}::timestamptz, 'COMPLETED')) r (id, at, status)`;
  await sql`insert into delayed (env, run_id, due) values (${env}, 'run_late', now() - interval '10 minutes')`;
  await sql`
    insert into schedules (env, id, type, task, cron, description, timezone, since, next_nominal, next_at, created_at)
    values (${env}, 'sched_late', 'IMPERATIVE', 'report', '0 * * * *', 'hourly', 'UTC', now() - interval '1 day',
            now() - interval '10 minutes', now() - interval '10 minutes', now())`;
  await sql`
    insert into notification_endpoints (id, env, url, types, sealed, failing_since, created_at)
    values ('endpoint_failing', ${env}, 'https://hooks.example.com/services/hidden-part', '{*}', '', now() - interval '1 day', now())`;
  await sql`
    insert into runners (id, env, host, pid, connection, connected_at, expires_at, unable, release)
    values ('runner_old', ${env}, 'host-1', 1, 'c1', now(), now() + interval '1 hour',
            '{"20261124.1": {"why": "no platform linux-arm64"}}', '0.0.9'),
           ('runner_gone', ${env}, 'host-2', 1, 'c2', now(), now() - interval '1 hour', '{}', null)`;
  await sql`update lease_watch set resumed_at = now() - interval '1 day'`;
  await fleetSampler({ sql, clock: { now: () => Date.now() }, stats: createRunStats() }).tick();
}
