-- Cancels a run and all its descendants. A waiting run ends immediately. A live attempt receives a stop signal, and its fence is returned.
-- A run may be claimed, promoted or returned during the search, so the search repeats until it finds the run.
-- `p_not_requested`: only runs whose cancellation had not been requested before.
--
-- Locks: for each run of the tree by id: the singleton key that it waits for, its lease, suspension or waiting row, its open batch,
--        then the run itself, its run_parts if it collects, and run_facets.
-- Callers: runs/cancel/cancel.ts, admit_singletons, cancel_singleton, complete_attempts.
create or replace function cancel_runs(p_env int, p_run text, p_at timestamptz, p_not_requested boolean default false)
returns table (runner_id text, fence bigint)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  v_run runs%rowtype;
  v_runner text;
  v_fence bigint;
  v_found boolean;
begin
  -- A trigger from one of these runs locks it (lock_parents). The child is therefore visible in the next pass, or the trigger finds the run
  -- canceled.
  for v_try in 1 .. 10 loop
    v_found := false;
    for v_run in
      with recursive tree as (
        select r.* from runs r where r.env = p_env and r.id = p_run
        union
        -- `offset 0`: the children of each run are read by key, regardless of the tree size that the planner expects
        select r.* from tree t cross join lateral (select x.* from runs x where x.env = p_env and x.parent_id = t.id offset 0) r
      )
      select * from tree where status is null
         and (v_try = 1 and not p_not_requested
              or (select true from leases l where l.env = p_env and l.run_id = tree.id and l.cancel_requested limit 1) is null
             and (select true from suspended s where s.env = p_env and s.run_id = tree.id and s.cancel_requested limit 1) is null)
       order by id
    loop
      v_found := true;
      if v_run.singleton_key is not null then
        -- A run that waits for another run's end. Ending that run locks the singleton key before the waiting row (release_singleton).
        perform from singletons s
          where s.env = p_env and s.task = v_run.task and s.key = v_run.singleton_key and s.run_id = v_run.id and num_nulls(s.previous) = 0
          for update;
      end if;
      for attempt in 1..50 loop
        update leases l set cancel_requested = true where l.env = p_env and l.run_id = v_run.id
        returning l.runner_id, l.fence into v_runner, v_fence;
        if found then
          runner_id := v_runner;
          fence := v_fence;
          return next;
          exit;
        end if;
        update suspended s set cancel_requested = true
         where s.env = p_env and s.run_id = v_run.id and num_nulls(s.runner_id) = 0
        returning s.runner_id, s.fence into runner_id, fence;
        if found then
          return next;
          exit;
        end if;
        delete from queued q
         where q.run_id = v_run.id and q.sort_key = v_run.sort_key
           and q.lane_id = any (array(
             select l.id from lanes l where l.queue_id = v_run.queue_id and l.key = coalesce(v_run.concurrency_key, '')));
        if not found then delete from delayed d where d.env = p_env and d.run_id = v_run.id; end if;
        if not found then delete from pending_version p where p.env = p_env and p.task = v_run.task and p.run_id = v_run.id; end if;
        if not found then
          delete from suspended s where s.env = p_env and s.run_id = v_run.id and num_nulls(s.runner_id) = 1;
        end if;
        if not found and v_run.batch_id is not null then
          -- held by an open batch: after the batch is sealed, the run is in another table
          perform from batches b
            where b.env = p_env and b.id = v_run.batch_id and b.sealed_at is null and b.aborted_at is null for update;
        end if;
        if found then
          if v_run.collect_key is not null then perform close_collections(array[p_env], array[v_run.id], p_at); end if;
          update runs r set status = 'CANCELED', finished_at = p_at, updated_at = p_at
           where r.env = p_env and r.id = v_run.id and r.status is null;
          insert into run_stat_arrivals (env, task, queue_id, version_id, what, at, n)
          values (p_env, v_run.task, v_run.queue_id, v_run.version_id, 'canceled', p_at, 1);
          perform record_facets(array[p_env, p_env], array[facet_of('status', 'CANCELED'), facet_of('task_status', 'CANCELED:' || v_run.task)], array[v_run.id, v_run.id]);
          exit;
        end if;
        select * into v_run from runs r where r.env = p_env and r.id = v_run.id;
        exit when v_run.status is not null;
      end loop;
    end loop;
    exit when not v_found;
  end loop;
end $$;
