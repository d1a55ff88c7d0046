-- Returns runs to where they wait: to the lane of their version if they are bound to one. A run that has not started keeps its time to live,
-- counted from when it was due or from when its batch was sealed.
--
-- Locks: as enqueue_runs.
-- Callers: complete_attempts, detach_runs, reclaim_leases, wake_waiters.
create or replace function requeue_runs(p_env int[], p_run text[]) returns void
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
begin
  perform enqueue_runs(array(
    select row (r.env, r.queue_id, r.concurrency_key, r.version_id, r.sort_key, r.id,
                case when r.ttl > 0 and r.attempt = 0 and r.rescues = 0 and r.started_at is null then
                  greatest(to_timestamp((r.sort_key + r.priority_ms) / 1000.0),
                           (select b.sealed_at from batches b where b.env = r.env and b.id = r.batch_id))
                  + make_interval(secs => r.ttl) end)::waiting_run
      from unnest(p_env, p_run) as i (env, run_id) join runs r on r.env = i.env and r.id = i.run_id));
end $$;
