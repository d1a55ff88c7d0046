import type { Sql } from '../../db/connect.ts';

const rows = 20_000;

/**
 * Fills every table that a run passes through with rows of other runs, most of them in the same environment and queue, so that a read
 * without the full key encounters all of them. Autovacuum is off for these tables, so that statistics stay as set.
 */
export async function addOtherRuns(sql: Sql, env: number, queue: number): Promise<void> {
  const others = (text: string): string =>
    text
      .replaceAll(':env', String(env))
      .replaceAll(':queue', String(queue))
      .replaceAll(':runs', `generate_series(1, ${rows}) as i (n)`)
      .replaceAll(':id', `'run_0000' || lpad(i.n::text, 17, '0')`);
  await sql.unsafe(
    others(`
    insert into queues (env, name) select :env, 'crowd ' || n from generate_series(1, 500) as n;
    insert into runs (env, id, task, queue_id, sort_key, created_at, parent_id, root_id, depth, request_key, batch_id)
      select :env, :id, 'crowd', :queue, i.n, now(), 'run_other' || i.n, 'run_other' || i.n, 1, gen_random_uuid(), 'batch_other' || i.n
        from :runs;
    insert into lanes (env, queue_id, key, pinned_version, blocked, turn)
      select :env, case when i.n % 2 = 0 then :queue else :queue + i.n % 400 end, 'crowd ' || i.n, 1000 + i.n % 50, i.n % 4 = 0, i.n
        from :runs;
    insert into queued (lane_id, sort_key, run_id, env, expires_at)
      select l.id, i.n, :id, :env, now() + interval '1 hour' from :runs join lanes l on l.turn = i.n and l.env = :env;
    insert into leases (env, run_id, runner_id, queue_id, key, version_id, attempt, leased_at)
      select :env, :id, 'other', :queue, 'crowd ' || i.n, 1, 1, now() from :runs;
    insert into queue_starts (env, queue_id, key, at, n, total, due)
      select :env, case when i.n % 2 = 0 then :queue else :queue + i.n % 400 end, 'crowd ' || i.n, array[now()], array[1], 1,
             case when i.n % 2 = 0 then now() + interval '1 hour' end from :runs;
    update lanes set rate_limited_at = now() where blocked and turn % 8 = 0;
    insert into delayed (env, run_id, due, retry) select :env, :id, now() + interval '1 hour', i.n % 2 = 0 from :runs;
    insert into pending_version (env, task, run_id, expires_at)
      select :env, 'crowd ' || i.n % 10, :id, now() + interval '1 hour' from :runs;
    insert into suspended (env, run_id, fence, runner_id, queue_id, key, version_id, attempt, active_ms, since)
      select :env, :id, -i.n, 'other', :queue, 'crowd ' || i.n, 1, 1, 0, now() from :runs;
    insert into waits (env, run_id, attempt, key, kind, watched, due, created_at, over_at, reported)
      select :env, :id, 1, 'run/crowd/1', 'RUN', case when i.n % 2 = 0 then 'run_other' || i.n end, now() + interval '1 hour', now(),
             case when i.n % 4 = 1 then now() end, i.n % 8 = 1 from :runs;
    insert into idempotency_keys (env, task, key, run_id, expires_at)
      select :env, 'send', 'crowd ' || i.n, :id, now() + interval '1 hour' from :runs;
    insert into debounces (env, task, key, run_id, due) select :env, 'send', 'crowd ' || i.n, :id, now() + interval '1 hour' from :runs;
    insert into singletons (env, task, key, run_id, previous) select :env, 'send', 'crowd ' || i.n, :id, :id from :runs;
    insert into collecting (env, task, key, lane, run_id, due)
      select :env, 'index', 'crowd ' || i.n, '', :id, now() + interval '1 hour' from :runs;
    insert into run_parts (env, run_id, position, payload, bytes, request_key, closed_at)
      select :env, :id, 1, '1', 4, gen_random_uuid(), case when i.n % 2 = 0 then now() end from :runs;
    insert into trigger_starts (env, task, key, burst, span, at, n, over_at)
      select :env, 'send', 'crowd ' || i.n, 1, 1000000, array[now()], array[1], now() + interval '1 hour' from :runs;
    insert into batches (env, id, run_count, received, created_at, sealed_at)
      select :env, 'batch_' || lpad(i.n::text, 24, '0'), 1, 1, now(), now() from :runs;
    insert into batch_cached (env, item_id, run_id) select :env, :id, 'run_other' || i.n from :runs;
    insert into run_facets (env, facet, span) select :env, facet_of('tag', 'crowd' || i.n), 'run_000000' from :runs;
    insert into waitpoints (env, id, created_at, expires_at)
      select :env, 'waitpoint_' || lpad(i.n::text, 24, '0'), now(), now() + interval '1 hour' from :runs`),
  );
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`;
  for (const { name } of tables) await sql.unsafe(`alter table ${name} set (autovacuum_enabled = off)`);
}

/** The hot tables, and tables that are sometimes empty while their files are large. */
export const hot = [
  'queued',
  'leases',
  'lanes',
  'queue_starts',
  'delayed',
  'pending_version',
  'suspended',
  'waits',
  'waitpoints',
  'runners',
  'batches',
  'batch_cached',
  'debounces',
  'singletons',
  'trigger_starts',
  'collecting',
  'run_parts',
  'idempotency_keys',
  'run_facets',
  'error_arrivals',
] as const;

/** The statistics that VACUUM and ANALYZE write about a table. */
export interface Statistics {
  readonly rows: number;
  readonly pages: number;
}

/** Writes these statistics for all hot tables and their indexes. */
export async function pretend(sql: Sql, { rows: tuples, pages }: Statistics): Promise<void> {
  await sql`
    update pg_class set reltuples = ${tuples}, relpages = ${pages}
     where oid = any(${hot}::regclass[]::oid[])
        or oid in (select indexrelid from pg_index where indrelid = any(${hot}::regclass[]::oid[]))`;
}
