-- Ends runs that waited longer than their time to live without starting.
--
-- Locks: due rows of queued and pending_version (skip locked), runs, run_facets.
-- Callers: runs/dispatch/expirer.ts.
create or replace function expire_due(p_at timestamptz, p_limit int) returns int
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_env int[];
  v_task text[];
  v_run text[];
begin
  with late as materialized (
    select q.ctid as tid from queued q where q.expires_at <= p_at order by q.expires_at limit p_limit for update skip locked
  ), gone as (
    delete from queued q where q.ctid = any (array(select tid from late)) returning q.env, q.run_id
  ), late_pending as materialized (
    select p.ctid as tid from pending_version p where p.expires_at <= p_at order by p.expires_at limit p_limit for update skip locked
  ), gone_pending as (
    delete from pending_version p where p.ctid = any (array(select tid from late_pending)) returning p.env, p.run_id
  ), ended as (
    update runs r set status = 'EXPIRED', finished_at = p_at, updated_at = p_at
      from (select * from gone union all select * from gone_pending) g
     where r.env = g.env and r.id = g.run_id and r.status is null
    returning r.env, r.task, r.id, r.queue_id, r.version_id
  ), counted as (
    insert into run_stat_arrivals (env, task, queue_id, version_id, what, at, n)
    select e.env, e.task, e.queue_id, e.version_id, 'expired', p_at, count(*) from ended e group by e.env, e.task, e.queue_id, e.version_id
  )
  select array_agg(e.env), array_agg(e.task), array_agg(e.id) into v_env, v_task, v_run from ended e;
  if v_run is null then return 0; end if;
  perform record_facets(array_agg(g.env), array_agg(f.facet), array_agg(g.run_id))
     from unnest(v_env, v_task, v_run) as g (env, task, run_id)
     cross join lateral unnest(array[facet_of('status', 'EXPIRED'), facet_of('task_status', 'EXPIRED:' || g.task)]) as f (facet);
  return cardinality(v_run);
end $$;
