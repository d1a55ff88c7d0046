-- Puts runs into their lanes and creates missing lanes. A null key means no key; a null version becomes 0, the version that is current at
-- the time.
-- The planner settings of the caller apply.
--
-- Locks: lanes (key share), so that no claim deletes them; new lanes in the order of environment, queue, key and version.
-- Callers: dispatch_new_runs, move_runs, promote_due, promote_external_id, promote_pending_version, requeue_runs.
create or replace function enqueue_runs(p_runs waiting_run[]) returns void
language plpgsql
as $$
declare
  v_is_complete boolean;
begin
  if cardinality(p_runs) = 0 then return; end if;
  loop
    -- each lane is locked once, regardless of the number of runs that enter it
    select count(*) = count(l.id) into v_is_complete
      from (select distinct i.queue_id, coalesce(i.key, '') as key, coalesce(i.pinned_version, 0) as pinned_version from unnest(p_runs) as i) k
      left join lateral (
        select x.id from lanes x where x.queue_id = k.queue_id and x.key = k.key and x.pinned_version = k.pinned_version
         limit 1 for key share) l on true;
    exit when v_is_complete;
    -- in one global order, so that two of these calls cannot deadlock
    insert into lanes (env, queue_id, key, pinned_version)
    select distinct i.env, i.queue_id, coalesce(i.key, ''), coalesce(i.pinned_version, 0) from unnest(p_runs) as i
     order by 1, 2, 3, 4
    on conflict do nothing;
  end loop;
  insert into queued (lane_id, sort_key, run_id, env, expires_at)
  select l.id, i.sort_key, i.run_id, i.env, i.expires_at
    from unnest(p_runs) as i
    cross join lateral (
      select x.id from lanes x
       where x.queue_id = i.queue_id and x.key = coalesce(i.key, '') and x.pinned_version = coalesce(i.pinned_version, 0) limit 1) l;
end $$;
