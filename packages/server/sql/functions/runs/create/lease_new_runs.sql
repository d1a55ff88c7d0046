-- Leases new runs to the runners named for them, if no limit applies to a run's queue and no run precedes it. Returns the leases, or null for
-- none.
-- The planner settings of the caller apply.
--
-- Locks: runners (key share).
-- Callers: dispatch_new_runs.
create or replace function lease_new_runs(p_at timestamptz, p_runs new_run[]) returns new_lease[]
language plpgsql
as $$
declare
  v_leased new_lease[];
begin
  with leased as (
    insert into leases (env, run_id, runner_id, queue_id, key, version_id, attempt, leased_at, runner_no)
    select i.env, i.id, i.runner_id, i.queue_id, coalesce(i.concurrency_key, ''), i.runner_version, 1, p_at, r.no
      from unnest(p_runs) as i
      join runners r on r.id = i.runner_id
     where i.runner_id is not null and i.state = 'queued' and i.wait_until is null
       and exists (select from queues q
                    where q.id = i.queue_id and not q.paused and q.concurrency_limit is null and q.concurrency_override is null
                      and q.rate_burst is null and q.shared_limit_id is null)
       and exists (select from environments e where e.id = i.env and not e.paused and e.concurrency_limit is null)
       and (select true from lanes l
             cross join lateral (select from queued w where w.lane_id = l.id limit 1) w
             where l.queue_id = i.queue_id and l.key = coalesce(i.concurrency_key, '') and l.pinned_version = coalesce(i.version_id, 0)
             limit 1) is null
       -- locked, so that a rescue sees the lease
       for key share of r
    returning run_id, fence, attempt, version_id, queue_id, key
  )
  select array_agg(row (l.run_id, l.fence, l.attempt, l.version_id, l.queue_id, l.key, null)::new_lease) into v_leased from leased l;
  return v_leased;
end $$;
