-- Moves due runs (delay, retry) into their lanes, or to `pending_version` if the current version does not have their task. Runs that collected
-- payloads stop collecting.
--
-- Locks: due rows of delayed (skip locked), runs that collected and their run_parts (close_collections), as promote_external_id for runs that wait for a deployment, lanes.
-- Callers: runs/dispatch/promoter.ts.
create or replace function promote_due(p_at timestamptz, p_limit int) returns table (env int)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  v_env int[];
  v_run text[];
  v_pending boolean[];
  v_collected text[];
begin
  with due as materialized (
    select d.ctid as tid from delayed d where d.due <= p_at order by d.due limit p_limit for update skip locked
  ), gone as (
    delete from delayed d where d.ctid = any (array(select tid from due)) returning d.env, d.run_id
  )
  select array_agg(g.env), array_agg(g.run_id),
         array_agg(r.version_id is null and (r.external_deployment_id is not null or not exists (
           select from current_versions c join tasks t on t.version_id = c.version_id where c.env = g.env and t.id = r.task))),
         array_agg(r.id) filter (where r.collect_key is not null)
    into v_env, v_run, v_pending, v_collected
    from gone g join runs r on r.env = g.env and r.id = g.run_id;
  if v_run is null then return; end if;
  if v_collected is not null then
    perform close_collections(array_agg(g.env), array_agg(g.run_id), p_at)
       from unnest(v_env, v_run) as g (env, run_id) where g.run_id = any (v_collected);
  end if;

  insert into pending_version (env, task, run_id, expires_at, external_id)
  select r.env, r.task, r.id, case when r.ttl > 0 then p_at + make_interval(secs => r.ttl) end, r.external_deployment_id
    from unnest(v_env, v_run, v_pending) as g (env, run_id, pending_version) join runs r on r.env = g.env and r.id = g.run_id
   where g.pending_version;
  -- the deployment may exist by now
  perform promote_external_id(x.env, x.id, p_at, p_limit)
     from (select distinct r.env, r.external_deployment_id as id
             from unnest(v_env, v_run, v_pending) as g (env, run_id, pending_version)
             join runs r on r.env = g.env and r.id = g.run_id
            where g.pending_version and r.external_deployment_id is not null order by 1, 2) x;
  perform enqueue_runs(array(
    select row (r.env, r.queue_id, r.concurrency_key, r.version_id, r.sort_key, r.id,
                case when r.attempt = 0 and r.ttl > 0 then p_at + make_interval(secs => r.ttl) end)::waiting_run
      from unnest(v_env, v_run, v_pending) as g (env, run_id, pending_version) join runs r on r.env = g.env and r.id = g.run_id
     where not g.pending_version));
  return query select distinct e from unnest(v_env) as e;
end $$;
