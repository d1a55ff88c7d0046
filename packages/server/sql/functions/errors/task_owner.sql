-- The owner of a task in the current version of an environment; null if there is none.
--
-- Locks: none.
-- Callers: error_ownership, add_alert_events, notifications/alerts/conditions/failing-tasks.ts.
create or replace function task_owner(p_env int, p_task text) returns text language sql stable as $$
  select t.manifest ->> 'owner' from current_versions c join tasks t on t.version_id = c.version_id and t.id = p_task where c.env = p_env
$$;
