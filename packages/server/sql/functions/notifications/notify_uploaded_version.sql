-- Sends a notification for a version whose files have all been uploaded.
--
-- Locks: as notify_endpoints.
-- Callers: the trigger below.
create or replace function notify_uploaded_version() returns trigger language plpgsql as $$
begin
  if not exists (select from notification_endpoints e where e.env = new.env) then return null; end if;
  perform notify_endpoints(new.env, clock_timestamp(), 'deployment.registered', jsonb_build_object(
            'version', new.version, 'contentHash', new.content_hash, 'createdAt', iso_time(new.created_at)));
  return null;
end $$;

create or replace trigger notify_uploaded_version after update of state on versions
  for each row when (old.state = 'uploading' and new.state = 'ready') execute function notify_uploaded_version();
