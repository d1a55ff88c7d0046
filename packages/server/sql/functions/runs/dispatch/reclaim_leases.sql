-- Takes back the leases of a runner.
-- With `p_lost`, the runner is gone. Its row is deleted first, which waits for claims that are leasing runs to it, and blocks later ones.
-- The loss is counted for each run. A run that was lost more than `p_max_rescues` times is returned, and the caller ends it. The runner is
-- gone if its connection `p_connection` ended and it has no newer one, or, without `p_connection`, if its lease expired (`is_lease_over`).
-- The loss of a runner that has sent no heartbeat since the last outage of the database is not counted, because the outage may be the
-- cause. With `p_lost` and without `p_max_rescues`, the runner has stopped cleanly, and no loss is counted.
-- Without `p_lost`, the runner is alive. Only the fences missing from its report (`p_reported`) are taken back, without counting a loss.
-- Attempts that may have begun are stored in `attempts`.
--
-- Locks: the runner, claim locks (lock_limited), leases by run, suspended by run (detach_runs), runs, run_facets, lanes.
-- Callers: runs/dispatch/rescue.ts.
create or replace function reclaim_leases(
  p_runner text, p_at timestamptz, p_lost boolean, p_connection text, p_reported bigint[], p_reported_at timestamptz, p_max_rescues int
)
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
  v_queue int[];
  v_key text[];
  v_version int[];
  v_fence bigint[];
  v_leased timestamptz[];
  v_attempt int[];
  v_runner int[];
  v_heartbeat timestamptz;
  v_counts boolean := p_lost and p_max_rescues is not null;
begin
  if p_lost then
    delete from runners r where r.id = p_runner
       and case when p_connection is null then is_lease_over(r.heartbeat_at, r.expires_at, p_at) else r.connection = p_connection end
    returning r.heartbeat_at into v_heartbeat;
    if not found and exists (select from runners r where r.id = p_runner) then return; end if;
    v_counts := v_counts and not exists (select from lease_watch w where w.only_row and v_heartbeat < w.resumed_at);
  end if;
  perform lock_limited(array_agg(l.env), array_agg(l.queue_id)) from leases l where l.runner_id = p_runner having count(*) > 0;
  with live as materialized (
    select l.env, l.run_id, l.fence from leases l
     where l.runner_id = p_runner and (p_lost or not l.fence = any (p_reported) and l.leased_at <= p_reported_at)
     order by l.run_id for update
  ), judged as (
    select live.*, l.queue_id, l.key, l.version_id, l.leased_at, l.attempt, l.runner_no,
           case when l.cancel_requested then 'canceled' when v_counts and r.rescues >= p_max_rescues then 'crashed' else 'queued' end as verdict
      from live join leases l on l.env = live.env and l.run_id = live.run_id
      join runs r on r.env = live.env and r.id = live.run_id
  ), gone as (
    -- a run past its last rescue keeps its lease, because the caller ends it with an error through complete_attempts
    delete from leases l using judged j where l.env = j.env and l.run_id = j.run_id and l.fence = j.fence and j.verdict = 'queued'
  )
  select array_agg(j.env), array_agg(j.run_id), array_agg(j.verdict), array_agg(j.queue_id), array_agg(j.key),
         array_agg(j.version_id), array_agg(j.fence), array_agg(j.leased_at), array_agg(j.attempt), array_agg(j.runner_no)
    into v_env, v_run, v_verdict, v_queue, v_key, v_version, v_fence, v_leased, v_attempt, v_runner
    from judged j;
  -- Its suspended runs continue elsewhere without counting the loss.
  return query select * from detach_runs(p_runner, case when p_lost then null else p_reported end,
                                        case when p_lost then p_at else p_reported_at end);
  if v_run is null then return; end if;

  -- If a live runner does not hold an attempt, the attempt never began, unless it has waited within its code before.
  insert into attempts (env, run_id, fence, number, outcome, started_at, ended_at, active_ms, runner_no, version_id)
  select g.env, g.run_id, g.fence, g.attempt, case when p_lost and p_max_rescues is not null then 'LOST' else 'RETURNED' end,
         s.at, greatest(p_at, s.at), greatest(0, extract(epoch from p_at - g.leased_at) * 1000)::bigint, g.runner_no, g.version_id
    from unnest(v_env, v_run, v_verdict, v_fence, v_version, v_leased, v_attempt, v_runner)
           as g (env, run_id, verdict, fence, version_id, leased_at, attempt, runner_no)
    cross join lateral (
      select coalesce(r.last_started_at, g.leased_at) as at from runs r
       where r.env = g.env and r.id = g.run_id and (p_lost or r.last_started_at is not null) limit 1) s
   where g.verdict = 'queued';
  if p_lost then
    update runs r set rescues = r.rescues + v_counts::int, version_id = g.version_id,
                      started_at = case when p_max_rescues is null then coalesce(r.started_at, g.leased_at) else r.started_at end,
                      updated_at = p_at, last_started_at = null
      from unnest(v_env, v_run, v_verdict, v_version, v_leased) as g (env, run_id, verdict, version_id, leased_at)
     where r.env = g.env and r.id = g.run_id and g.verdict = 'queued';
    perform record_facets(array_agg(g.env), array_agg(facet_of('version', g.version_id::text)), array_agg(g.run_id))
       from unnest(v_env, v_run, v_verdict, v_version) as g (env, run_id, verdict, version_id)
      where g.verdict = 'queued' having count(*) > 0;
  else
    update runs r set last_started_at = null
      from unnest(v_env, v_run, v_verdict) as g (env, run_id, verdict)
     where r.env = g.env and r.id = g.run_id and g.verdict = 'queued' and r.last_started_at is not null;
  end if;
  perform requeue_runs(array_agg(g.env), array_agg(g.run_id))
     from unnest(v_env, v_run, v_verdict) as g (env, run_id, verdict) where g.verdict = 'queued';
  perform free_slots(v_env, v_queue, v_key);
  return query select * from unnest(v_env, v_run, v_verdict, v_fence);
end $$;
