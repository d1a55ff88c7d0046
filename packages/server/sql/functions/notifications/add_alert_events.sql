-- Adds an event to the alerts of an environment. Without alerts it costs one lookup in a small table.
--
-- Locks: the alerts by id (key share), so that a concurrent deletion does not make the caller fail.
-- Callers: notify_missed_ticks, notify_new_errors, notify_reopened_errors.
create or replace function add_alert_events(p_env int, p_kind text, p_task text, p_at timestamptz, p_properties jsonb) returns void
language sql as $$
  with counting as materialized (
    select a.id from alerts a
     where a.env = p_env and a.kind = p_kind and a.enabled and (a.task is null or a.task = p_task)
       and (a.owners is null or lower(case when p_kind like 'error.%' then error_ownership(p_env, p_properties ->> 'id', p_task) ->> 'owner'
                                           else task_owner(p_env, p_task) end) = any (select lower(o) from unnest(a.owners) o))
     order by a.id for key share
  )
  insert into alert_events (env, alert_id, at, properties) select p_env, c.id, p_at, p_properties from counting c;
$$;
