-- Detaches suspended runs whose code ended with its process. Ready runs are queued; the others keep waiting without their code. Covers all
-- runs of a runner, or those suspended by `p_reported_at` and missing from its report (`p_reported`), or specific ones (`p_only`). Returns the
-- queued runs, and those with a stop signal, which the caller ends. The others are stored in `attempts`, as ended at `p_reported_at`.
--
-- Locks: suspended by run, runs, then lanes (requeue_runs).
-- Callers: runs/dispatch/rescue.ts, reclaim_leases.
create or replace function detach_runs(p_runner text, p_reported bigint[], p_reported_at timestamptz, p_only bigint[] default null)
returns table (env int, run_id text, verdict text, fence bigint)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  v_env int[];
  v_run text[];
  v_verdict text[];
  v_fence bigint[];
begin
  select array_agg(x.env), array_agg(x.run_id), array_agg(x.fence),
         array_agg(case when x.cancel_requested then 'canceled' when x.ready_at is not null then 'queued' else 'waits' end)
    into v_env, v_run, v_fence, v_verdict
    from (select * from suspended s
           where s.runner_id = p_runner and (p_reported is null or not s.fence = any (p_reported) and s.since <= p_reported_at)
             and (p_only is null or s.fence = any (p_only))
           order by s.run_id for update) x;
  if v_run is null then return; end if;
  insert into attempts (env, run_id, fence, number, outcome, started_at, ended_at, active_ms, runner_no, version_id)
  select s.env, s.run_id, s.fence, s.attempt, 'DETACHED', b.at, greatest(p_reported_at, s.since, b.at), s.active_ms, s.runner_no, s.version_id
    from unnest(v_env, v_run, v_verdict) as i (env, run_id, verdict)
    cross join lateral (select x.* from suspended x where x.env = i.env and x.run_id = i.run_id limit 1) s
    cross join lateral (
      select coalesce(r.last_started_at, s.since) as at from runs r where r.env = i.env and r.id = i.run_id limit 1) b
   where i.verdict <> 'canceled';
  update runs r set last_started_at = null
    from unnest(v_env, v_run, v_verdict) as i (env, run_id, verdict)
   where r.env = i.env and r.id = i.run_id and i.verdict <> 'canceled';
  -- a new fence, so that later messages from the old holder are rejected
  update suspended s set runner_id = null, fence = nextval('lease_fences')
   where s.ctid = any (array(
     select x.tid from unnest(v_env, v_run, v_verdict) as i (env, run_id, verdict)
      cross join lateral (select y.ctid as tid from suspended y where y.env = i.env and y.run_id = i.run_id limit 1) x
      where i.verdict = 'waits'));
  delete from suspended s
   where s.ctid = any (array(
     select x.tid from unnest(v_env, v_run, v_verdict) as i (env, run_id, verdict)
      cross join lateral (select y.ctid as tid from suspended y where y.env = i.env and y.run_id = i.run_id limit 1) x
      where i.verdict = 'queued'));
  perform requeue_runs(array_agg(i.env), array_agg(i.run_id))
     from unnest(v_env, v_run, v_verdict) as i (env, run_id, verdict) where i.verdict = 'queued' having count(*) > 0;
  return query select * from unnest(v_env, v_run, v_verdict, v_fence) as i (env, run_id, verdict, fence) where i.verdict <> 'waits';
end $$;
