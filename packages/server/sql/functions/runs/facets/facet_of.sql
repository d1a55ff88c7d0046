-- A facet of `run_facets`: its kind, and a value of that kind. Null if the value is null.
--
-- Locks: none.
-- Callers: batches/abort.ts, errors/rules/preview.ts, runs/facets/delete-facets.ts, begin_waits, cancel_runs, complete_attempts, expire_due,
--          move_runs, promote_external_id, push_debounced_runs, reclaim_leases, record_new_facets, tally_errors, task_facets.
create or replace function facet_of(p_kind text, p_value text) returns text
language sql immutable parallel safe
as $$ select p_kind || ':' || p_value $$;
