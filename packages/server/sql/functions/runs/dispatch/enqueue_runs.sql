-- Puts runs into their lanes, and creates lanes that are missing. A null key is no key, a null route is 0: whatever version is current.
--
-- Locks: lanes (key share), so that no claim deletes them; new lanes in the order of environment, queue, key and route.
-- Callers: dispatch_new_runs, move_runs, promote_due, promote_external_id, promote_pending_version, requeue_runs.
create or replace function enqueue_runs(
  p_env int[], p_queue int[], p_key text[], p_pinned_version int[], p_sort_key bigint[], p_run text[], p_expires timestamptz[]
) returns void
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_left int := cardinality(p_run);
  v_count int;
begin
  loop
    insert into queued (lane_id, sort_key, run_id, env, expires_at)
    select l.id, i.sort_key, i.run_id, i.env, i.expires_at
      from unnest(p_env, p_queue, p_key, p_pinned_version, p_sort_key, p_run, p_expires)
             as i (env, queue_id, key, pinned_version, sort_key, run_id, expires_at)
      cross join lateral (
        -- The arguments may bring the collation of ids along; with it the index of the lanes would be of no use for their keys.
        select x.id from lanes x
         where x.queue_id = i.queue_id and x.key = coalesce(i.key, '') collate "default" and x.pinned_version = coalesce(i.pinned_version, 0)
         limit 1 for key share) l
    on conflict do nothing;
    get diagnostics v_count = row_count;
    v_left := v_left - v_count;
    exit when v_left <= 0;
    -- in one order for everybody, so that two of these cannot wait for each other
    insert into lanes (env, queue_id, key, pinned_version)
    select distinct i.env, i.queue_id, coalesce(i.key, ''), coalesce(i.pinned_version, 0)
      from unnest(p_env, p_queue, p_key, p_pinned_version) as i (env, queue_id, key, pinned_version)
     order by 1, 2, 3, 4
    on conflict do nothing;
  end loop;
end $$;
