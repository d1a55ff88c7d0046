-- Sends notifications for missed schedule ticks. Adds them to alerts, along with ticks that could not start a run.
--
-- Locks: as notify_endpoints, and then add_alert_events.
-- Callers: the trigger below.
create or replace function notify_missed_ticks() returns trigger language plpgsql as $$
begin
  if not exists (select from notification_endpoints) then return null; end if;
  perform notify_endpoints(n.env, n.recorded_at, 'schedule.missed', jsonb_strip_nulls(jsonb_build_object(
            'id', s.id, 'taskIdentifier', s.task, 'cron', s.cron, 'timezone', s.timezone, 'externalId', s.external_id,
            'from', iso_time(n.from_at), 'until', iso_time(n.until_at))))
     from fresh n join schedules s on s.env = n.env and s.id = n.schedule_id
    where n.reason = 'missed' and exists (select from notification_endpoints e where e.env = n.env);
  perform add_alert_events(n.env, 'schedule.missed', s.task, n.recorded_at, jsonb_build_object(
            'id', s.id, 'taskIdentifier', s.task, 'cron', s.cron, 'timezone', s.timezone, 'reason', n.reason,
            'from', iso_time(n.from_at), 'until', iso_time(n.until_at)))
     from fresh n join schedules s on s.env = n.env and s.id = n.schedule_id
    where n.reason in ('missed', 'no_task', 'failed') and exists (select from alerts a where a.env = n.env);
  return null;
end $$;

create or replace trigger notify_missed_ticks after insert on schedule_skips referencing new table as fresh
  for each statement execute function notify_missed_ticks();
