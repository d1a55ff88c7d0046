-- Sends a notification to the endpoints subscribed to its type. Without endpoints it costs one lookup in a small table.
--
-- Locks: the endpoints by id (key share), so that a concurrent deletion does not make the caller fail.
-- Callers: notifications/disable.ts, notify_failed_runs, notify_missed_ticks, notify_new_errors, notify_promotions, notify_reopened_errors,
--          notify_uploaded_version, notify_versions.
create or replace function notify_endpoints(p_env int, p_at timestamptz, p_type text, p_data jsonb) returns void language plpgsql as $$
declare
  v_endpoints text[];
  v_id text;
  -- whole milliseconds, as on the wire and in list cursors
  v_at timestamptz := date_trunc('milliseconds', p_at);
begin
  -- locked, because a concurrent deletion must not make the caller's transaction fail
  select array_agg(s.id) into v_endpoints from (
    select e.id from notification_endpoints e
     where e.env = p_env and e.disabled_at is null
       and e.types && array['*', split_part(p_type, '.', 1) || '.*', p_type]
     order by e.id for key share) s;
  if v_endpoints is null then return; end if;
  v_id := 'msg_' || replace(gen_random_uuid()::text, '-', '');
  insert into notifications (id, env, type, at, data) values (v_id, p_env, p_type, v_at, p_data);
  insert into notification_deliveries (id, env, endpoint_id, notification_id, due, created_at)
  select 'delivery_' || replace(gen_random_uuid()::text, '-', ''), p_env, e, v_id, v_at, v_at from unnest(v_endpoints) as e;
end $$;
