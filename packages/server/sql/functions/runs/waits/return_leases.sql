-- Converts suspended attempts back into leases, for the transaction that ends them. Returns whether it converted any, or whether one has
-- become a lease in the meantime.
--
-- Locks: suspended by run.
-- Callers: complete_attempts.
create or replace function return_leases(p_at timestamptz, p_env int[], p_run text[], p_fence bigint[]) returns boolean
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
begin
  perform from (select * from unnest(p_env, p_run, p_fence) as i (env, run_id, fence) order by run_id) i
    cross join lateral (
      select from suspended x where x.env = i.env and x.run_id = i.run_id and x.fence = i.fence limit 1 for update) s;
  with gone as (
    delete from suspended s
     where num_nulls(s.runner_id) = 0
       and s.ctid = any (array(
         select x.tid from unnest(p_env, p_run, p_fence) as i (env, run_id, fence)
          cross join lateral (
            select y.ctid as tid from suspended y where y.env = i.env and y.run_id = i.run_id and y.fence = i.fence limit 1) x))
    returning s.*
  )
  insert into leases (env, run_id, fence, runner_id, queue_id, key, version_id, attempt, leased_at, cancel_requested,
                    runner_no)
  select g.env, g.run_id, g.fence, g.runner_id, g.queue_id, g.key, g.version_id, g.attempt,
         p_at - make_interval(secs => g.active_ms / 1000.0), g.cancel_requested, g.runner_no
    from gone g;
  if found then return true; end if;
  return exists (select from unnest(p_env, p_run, p_fence) as i (env, run_id, fence)
                  cross join lateral (
                    select from leases x where x.env = i.env and x.run_id = i.run_id and x.fence = i.fence limit 1) x);
end $$;
