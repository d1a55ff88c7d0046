-- Locks the parents of runs that are about to be created until the transaction ends. Until then no attempt is taken over and no run is
-- canceled. With a fence, the parent is a live attempt: its lease is locked, or its suspension while it waits. Without a fence, it is any run.
-- `refused`: `unknown`, `canceled`, or `stale` (the attempt has ended, or another attempt has the run).
--
-- Locks: by environment and run: leases or suspended (key share), or runs (share) for a parent without a fence.
-- Callers: runs/create/parent.ts, runs/dispatch/hold-attempt.ts, attach_runs, store_steps.
create or replace function lock_parents(p_env int[], p_run text[], p_fence bigint[])
returns table (env int, run_id text, fence bigint, root text, depth smallint, status text, refused text)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  p record;
  v_is_current boolean;
begin
  -- in one global order
  for p in
    select distinct i.env, i.run_id collate "C" as run_id, i.fence from unnest(p_env, p_run, p_fence) as i (env, run_id, fence)
     where i.run_id is not null order by 1, 2, 3
  loop
    env := p.env;
    run_id := p.run_id;
    fence := p.fence;
    if p.fence is null then
      select coalesce(r.root_id, r.id), r.depth, r.status into root, depth, status
        from runs r where r.env = p.env and r.id = p.run_id for share;
      v_is_current := found;
      refused := case when not v_is_current then 'unknown' when status = 'CANCELED' then 'canceled' end;
    else
      -- The attempt may move between the two tables in the meantime, in either direction.
      for v_try in 1 .. 3 loop
        if v_try = 2 then
          perform from suspended s where s.env = p.env and s.run_id = p.run_id and s.fence = p.fence for key share;
        else
          perform from leases l where l.env = p.env and l.run_id = p.run_id and l.fence = p.fence for key share;
        end if;
        v_is_current := found;
        exit when v_is_current;
      end loop;
      select coalesce(r.root_id, r.id), r.depth, r.status into root, depth, status
        from runs r where r.env = p.env and r.id = p.run_id;
      refused := case when not v_is_current then 'stale' end;
    end if;
    return next;
  end loop;
end $$;
