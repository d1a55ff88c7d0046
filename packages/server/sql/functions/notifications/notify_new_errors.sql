-- Sends notifications for new error groups and adds them to alerts.
--
-- Locks: as notify_endpoints, and then add_alert_events.
-- Callers: the trigger below.
create or replace function notify_new_errors() returns trigger language plpgsql as $$
begin
  if not exists (select from notification_endpoints) then return null; end if;
  perform notify_endpoints(g.env, g.first_seen, 'error.new', error_properties(g))
     from fresh n join error_groups g on g.env = n.env and g.id = n.id
    where exists (select from notification_endpoints e where e.env = n.env);
  perform add_alert_events(g.env, 'error.new', g.task, g.first_seen, error_properties(g))
     from fresh n join error_groups g on g.env = n.env and g.id = n.id
    where exists (select from alerts a where a.env = n.env);
  return null;
end $$;

create or replace trigger notify_new_errors after insert on error_groups referencing new table as fresh
  for each statement execute function notify_new_errors();
