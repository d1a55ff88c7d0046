-- Binds runs that waited for the deployment with this external id to it, once it is ready, and queues them. Runs whose task it does not have
-- continue to wait.
--
-- Locks: rows of pending_version (skip locked), runs by id, run_facets, lanes.
-- Callers: versions/deployments/external-id.ts, versions/pending-releaser.ts, promote_due.
create or replace function promote_external_id(p_env int, p_external_id text, p_at timestamptz, p_limit int) returns int
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_version int;
  v_run text[];
  v_expires timestamptz[];
begin
  select x.version_id into v_version from external_ids x where x.env = p_env and x.id = p_external_id;
  if not found then return 0; end if;
  with found as materialized (
    select p.ctid as tid from pending_version p
     where p.external_id = p_external_id and p.env + 0 = p_env
       and (select true from tasks t where t.version_id = v_version and t.id = p.task limit 1)
     order by p.run_id limit p_limit for update skip locked
  ), gone as (
    delete from pending_version p where p.ctid = any (array(select tid from found)) returning p.run_id, p.expires_at
  )
  select array_agg(g.run_id order by g.run_id), array_agg(g.expires_at order by g.run_id) into v_run, v_expires from gone g;
  if v_run is null then return 0; end if;
  perform from runs r where r.env = p_env and r.id = any (v_run) order by r.id for update;
  update runs r set version_id = v_version where r.env = p_env and r.id = any (v_run);
  perform record_facets(array_agg(p_env), array_agg(facet_of('version', v_version::text)), array_agg(g.id)) from unnest(v_run) as g (id);
  perform enqueue_runs(array(
    select row (r.env, r.queue_id, r.concurrency_key, v_version, r.sort_key, r.id, g.expires_at)::waiting_run
      from unnest(v_run, v_expires) as g (run_id, expires_at)
      cross join lateral (select x.* from runs x where x.env = p_env and x.id = g.run_id limit 1) r));
  return cardinality(v_run);
end $$;
