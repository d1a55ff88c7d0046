-- Sends notifications for versions that became current.
--
-- Locks: as notify_endpoints.
-- Callers: the triggers below.
create or replace function notify_promotions() returns trigger language plpgsql as $$
begin
  if not exists (select from notification_endpoints) then return null; end if;
  perform notify_endpoints(new.env, clock_timestamp(), 'deployment.promoted', jsonb_strip_nulls(jsonb_build_object(
            'version', v.version, 'contentHash', v.content_hash, 'createdAt', iso_time(v.created_at),
            'before', (select b.version from versions b where tg_op = 'UPDATE' and b.id = old.version_id))))
     from versions v where v.id = new.version_id;
  return null;
end $$;

create or replace trigger notify_new_current after insert on current_versions
  for each row execute function notify_promotions();

create or replace trigger notify_promotions after update on current_versions
  for each row when (old.version_id <> new.version_id) execute function notify_promotions();
