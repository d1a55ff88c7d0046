-- Cancels the live runs of a task and singleton key, except the triggering run (`p_parent`) and its ancestors. Runners are notified through
-- NOTIFY.
-- The planner settings of the caller apply.
--
-- Locks: as cancel_runs. The `singletons` row is read without a lock: ending a run locks that run first.
-- Callers: admit_singletons.
create or replace function cancel_singleton(p_at timestamptz, p_env int, p_task text, p_key text, p_parent text) returns void
language plpgsql
as $$
declare
  s singletons%rowtype;
  v_wakes json;
begin
  select * into s from singletons x where x.env = p_env and x.task = p_task and x.key = p_key;
  if not found then return; end if;
  -- the executing run first, as its end would lock them in this order
  select json_agg(json_build_object('kind', 'cancel', 'runner', c.runner_id, 'fences', json_build_array(c.fence)))
    into v_wakes
    from unnest(array[s.previous, s.run_id]) with ordinality as i (run_id, ix)
    cross join lateral cancel_runs(p_env, i.run_id, p_at) c
   where i.run_id is not null
     and (p_parent is null or i.run_id <> all (array(select a.id from run_ancestors(p_env, p_parent) a)));
  perform pg_notify('millrace', json_build_object('wakes',
    coalesce(v_wakes::jsonb, '[]') || jsonb_build_array(jsonb_build_object('kind', 'runs', 'env', p_env)))::text);
end $$;
