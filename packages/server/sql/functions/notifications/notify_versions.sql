-- Sends notifications for registered versions. An uploaded version is announced when it is ready (notify_uploaded_version).
--
-- Locks: as notify_endpoints.
-- Callers: the trigger below.
create or replace function notify_versions() returns trigger language plpgsql as $$
begin
  if not exists (select from notification_endpoints) then return null; end if;
  perform notify_endpoints(n.env, n.created_at, 'deployment.registered', jsonb_build_object(
            'version', n.version, 'contentHash', n.content_hash, 'createdAt', iso_time(n.created_at)))
     from fresh n where n.state = 'ready' and exists (select from notification_endpoints e where e.env = n.env);
  return null;
end $$;

create or replace trigger notify_versions after insert on versions referencing new table as fresh
  for each statement execute function notify_versions();
