-- Attaches runs to the tree of their parents and locks the parents until the transaction ends. A trigger is rejected if its parent is gone,
-- canceled, or in another attempt (lock_parents). A trigger that already resolved to another run keeps its result, in any state of the
-- parent. A run that collects the payloads of many triggers has no parent.
-- The planner settings of the caller apply.
--
-- Locks: runners (key share) before leases, the usual order; parents (lock_parents).
-- Callers: identify_runs.
create or replace function attach_runs(p_runs new_run[]) returns new_run[]
language plpgsql
as $$
declare
  t record;
begin
  perform from runners r where r.id = any (array(select i.runner_id from unnest(p_runs) as i)) order by r.id for key share;
  for t in
    with i as materialized (
      select x.env, x.ordinality as ix, x.parent_fence as fence,
             case when x.root_id is null and x.target_id is null then x.parent_id end as parent
        from unnest(p_runs) with ordinality as x
    )
    select i.ix, h.root, h.depth, h.refused
      from i
      join lock_parents(array(select x.env from i x order by x.ix), array(select x.parent from i x order by x.ix),
                        array(select x.fence from i x order by x.ix)) h
        on h.env = i.env and h.run_id = i.parent and h.fence is not distinct from i.fence
  loop
    p_runs[t.ix].root_id := t.root;
    p_runs[t.ix].depth := t.depth + 1;
    p_runs[t.ix].refused := t.refused;
    if t.refused is not null then p_runs[t.ix].target_id := ''; end if;
  end loop;
  return p_runs;
end $$;
