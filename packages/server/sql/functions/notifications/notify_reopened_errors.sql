-- Sends notifications for error groups that became unresolved without a user's action, and adds regressions to alerts.
--
-- Locks: as notify_endpoints, and then add_alert_events.
-- Callers: the trigger below.
create or replace function notify_reopened_errors() returns trigger language plpgsql as $$
begin
  if not exists (select from notification_endpoints) then return null; end if;
  perform notify_endpoints(g.env, n.at, case n.act when 'regressed' then 'error.regressed' else 'error.unignored' end,
                           error_properties(g) || jsonb_build_object('before', n.before))
     from fresh n join error_groups g on g.env = n.env and g.id = n.group_id
    where n.act in ('regressed', 'ignoreEnded') and exists (select from notification_endpoints e where e.env = n.env);
  perform add_alert_events(g.env, 'error.regressed', g.task, n.at, error_properties(g))
     from fresh n join error_groups g on g.env = n.env and g.id = n.group_id
    where n.act = 'regressed' and exists (select from alerts a where a.env = n.env);
  return null;
end $$;

create or replace trigger notify_reopened_errors after insert on error_audit referencing new table as fresh
  for each statement execute function notify_reopened_errors();
