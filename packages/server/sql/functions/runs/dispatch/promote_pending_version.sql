-- Queues runs that waited for a version, once the current version has their task. Runs that wait for a specific deployment continue to wait.
--
-- Locks: rows of pending_version (skip locked), lanes.
-- Callers: versions/pending-releaser.ts, versions/promote.ts.
create or replace function promote_pending_version(p_env int, p_at timestamptz, p_limit int) returns int
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_run text[];
  v_expires timestamptz[];
begin
  with found as materialized (
    select p.ctid as tid from current_versions c
      join tasks t on t.version_id = c.version_id
      cross join lateral (
        select x.ctid from pending_version x where x.env = p_env and x.task = t.id and num_nulls(x.external_id) = 1
         order by x.run_id limit p_limit for update skip locked
      ) p
     where c.env = p_env limit p_limit
  ), gone as (
    delete from pending_version p where p.ctid = any (array(select tid from found)) returning p.run_id, p.expires_at
  )
  select array_agg(g.run_id), array_agg(g.expires_at) into v_run, v_expires from gone g;
  if v_run is null then return 0; end if;
  perform enqueue_runs(array(
    select row (r.env, r.queue_id, r.concurrency_key, r.version_id, r.sort_key, r.id, g.expires_at)::waiting_run
      from unnest(v_run, v_expires) as g (run_id, expires_at)
      -- not a join, which, if planned while there are few runs, would read all runs of the environment for each row
      cross join lateral (select x.* from runs x where x.env = p_env and x.id = g.run_id limit 1) r));
  return cardinality(v_run);
end $$;
