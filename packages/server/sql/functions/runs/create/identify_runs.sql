-- Resolves each trigger to a new or an existing run. Each step runs only if a trigger needs it, and sets:
--   target_id   the other run that the trigger resolves to, or an empty text for a rejected trigger; null for a run to be inserted
--   is_cached   an idempotency key or a singleton key resolved to another run
--   refused     the reason no run is created: its parent, or a limit
--   root_id, depth, parent_id  the position in the tree; a run that collects the payloads of many triggers has no parent
--   wait_until  infinity for a run that waits for the end of another run with its singleton key; now for a run that has collected enough
-- The planner settings of the caller apply.
--
-- Locks: runs of repeated requests, runners (key share), parents (lock_parents), idempotency_keys by key, trigger_starts by key, debounces by
--        key with their delayed and runs rows; then as collect_triggers and admit_singletons.
-- Callers: create_runs.
create or replace function identify_runs(p_at timestamptz, p_runs new_run[]) returns new_run[]
language plpgsql
as $$
declare
  v_has record;
begin
  select bool_or(i.request_key is not null) as request_key, bool_or(i.parent_id is not null) as parent,
         bool_or(i.idempotency_key is not null) as idempotency_key, bool_or(i.limit_key is not null) as trigger_limit,
         bool_or(i.debounce_key is not null) as debounce, bool_or(i.collect_key is not null) as collection,
         bool_or(i.singleton_key is not null) as singleton
    into v_has from unnest(p_runs) as i;

  if v_has.request_key then p_runs := find_requested_runs(p_at, p_runs); end if;
  if v_has.parent then p_runs := attach_runs(p_runs); end if;
  if v_has.idempotency_key then p_runs := claim_idempotency_keys(p_at, p_runs); end if;
  if v_has.trigger_limit then p_runs := limit_triggers(p_runs); end if;
  if v_has.debounce then p_runs := push_debounced_runs(p_at, p_runs); end if;
  if v_has.collection then p_runs := collect_triggers(p_at, p_runs); end if;
  if v_has.singleton then p_runs := admit_singletons(p_at, p_runs); end if;
  return p_runs;
end $$;
