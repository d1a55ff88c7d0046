-- Records which id spans contain runs with these facets (run_facets).
--
-- Locks: run_facets in the order of its key.
-- Callers: batches/abort.ts, runs/facets/record.ts, begin_waits, cancel_runs, complete_attempts, expire_due, move_runs,
--          promote_external_id, push_debounced_runs, reclaim_leases, record_new_facets.
create or replace function record_facets(p_env int[], p_facet text[], p_run text[]) returns void
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
as $$
begin
  insert into run_facets (env, facet, span)
  select distinct i.env, i.facet, left(i.run_id, 10) from unnest(p_env, p_facet, p_run) as i (env, facet, run_id)
   where i.facet is not null order by 1, 2, 3
  on conflict do nothing;
end $$;
