-- Events: what a client sent, under an id of its own choice, and what became of it. An event that starts runs does so in the
-- transaction that stores it, or that takes its row out of `pending_events` when it is due.
create table events (
  env int not null,
  id text collate "C" not null check (length(id) between 1 and 255),
  -- null: it was sent without one, and starts nothing
  name text collate "C",
  -- JSON text of the event as it is shown, name and payload included
  event text not null,
  deliver_at timestamptz,
  delivered_at timestamptz,
  canceled_at timestamptz,
  -- its delivery cannot be written down; `failure` says why
  failed_at timestamptz,
  failure text,
  -- the runs that its delivery made; none: nothing was subscribed to it then
  run_ids text[] not null default '{}',
  replay_of text collate "C",
  created_at timestamptz not null,
  primary key (env, id),
  check (num_nonnulls(delivered_at, canceled_at, failed_at) <= 1),
  check ((failed_at is null) = (failure is null)),
  check (delivered_at is not null or run_ids = '{}')
) with (fillfactor = 90);
create index events_by_time on events (env, created_at);
create index events_by_name on events (env, name, created_at);

-- Those that wait for their time. Delivery and cancellation both begin with deleting this row: one of them finds it.
create table pending_events (
  env int not null,
  id text collate "C" not null,
  due timestamptz not null,
  primary key (env, id)
);
create index pending_events_by_due on pending_events (due);

-- What a run is told of the event that started it: JSON text of everything but the payload, which is the run's own.
alter table runs add column event text;

alter table pending_events set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

-- Notifications: facts of an environment, told to the addresses that asked for them.
create table notification_endpoints (
  id text collate "C" primary key check (id like 'endpoint\_%'),
  env int not null references environments on delete cascade,
  url text not null,
  description text,
  -- 'run.failed', 'error.*' or '*'
  types text[] not null check (cardinality(types) > 0),
  sealed bytea not null,
  -- after a rotation both sign until then
  sealed_before bytea,
  sealed_before_until timestamptz,
  -- the first failed attempt since the last that succeeded
  failing_since timestamptz,
  -- the last failed attempt, and how long it has failed since then; times in which nobody asked it are no part of that
  failed_at timestamptz,
  failing_for interval not null default '0',
  disabled_at timestamptz,
  -- user: by hand; failing: nothing was accepted for days; gone: it answered 410
  disabled_by text check (disabled_by in ('user', 'failing', 'gone')),
  created_at timestamptz not null,
  check ((disabled_at is null) = (disabled_by is null)),
  check ((sealed_before is null) = (sealed_before_until is null))
);
create index notification_endpoints_by_env on notification_endpoints (env);

-- One fact, whoever is told of it. Written in the transaction in which it becomes one.
create table notifications (
  id text collate "C" primary key,
  env int not null,
  type text not null,
  at timestamptz not null,
  data jsonb not null
);
create index notifications_by_time on notifications (at);

create table notification_deliveries (
  id text collate "C" primary key,
  env int not null,
  endpoint_id text collate "C" not null references notification_endpoints on delete cascade,
  notification_id text collate "C" not null references notifications on delete cascade,
  -- when it is tried next; null when it is over. Whoever tries it moves this on first, so that a process that dies is made up for.
  due timestamptz,
  attempts int not null default 0,
  delivered_at timestamptz,
  -- of the last attempt
  attempted_at timestamptz,
  response_status int,
  failure text,
  created_at timestamptz not null,
  check (due is null or delivered_at is null),
  unique (endpoint_id, notification_id)
);
create index notification_deliveries_by_due on notification_deliveries (endpoint_id, due) where due is not null;
create index notification_deliveries_by_time on notification_deliveries (env, created_at);
create index notification_deliveries_by_notification on notification_deliveries (notification_id);

-- Tells a fact to whoever asked for its type. Costs one look at a small table where nobody did.
create function notify_endpoints(p_env int, p_at timestamptz, p_type text, p_data jsonb) returns void language plpgsql as $$
declare
  v_endpoints text[];
  v_id text;
  -- whole milliseconds, as the wire and the cursors of lists have
  v_at timestamptz := date_trunc('milliseconds', p_at);
begin
  -- locked: one that is being deleted must not make the caller's transaction fail
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

-- The facts themselves are found where their rows are written, in that very transaction: whoever writes them need not know.
-- Statement by statement, and nothing is looked up for environments without endpoints.

create function iso_time(p_at timestamptz) returns text language sql immutable
return to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

-- Called where runs end; the others are triggers.
create function notify_failed_runs(p_env int[], p_run text[]) returns void language plpgsql as $$
begin
  perform notify_endpoints(r.env, r.finished_at, 'run.failed', jsonb_strip_nulls(jsonb_build_object(
            'id', r.id, 'taskIdentifier', r.task, 'status', r.status, 'version', v.version, 'attemptCount', r.attempt,
            'isTest', r.is_test, 'tags', to_jsonb(coalesce(r.tags, '{}')), 'createdAt', iso_time(r.created_at),
            'startedAt', iso_time(r.started_at), 'finishedAt', iso_time(r.finished_at), 'errorId', f.group_id,
            'error', jsonb_build_object('name', r.error ->> 'name', 'message', left(r.error ->> 'message', 1000)))))
     from unnest(p_env, p_run) as n (env, run)
     join runs r on r.env = n.env and r.id = n.run
     left join versions v on v.id = r.version_id
     left join error_fingerprints f on f.id = r.error_fingerprint_id
    where exists (select from notification_endpoints e where e.env = n.env);
end $$;

create function error_facts(g error_groups) returns jsonb language sql immutable
return jsonb_build_object('id', g.id, 'fingerprint', g.fingerprint, 'taskIdentifier', g.task, 'errorType', g.type,
                          'errorMessage', g.message, 'count', g.total, 'firstSeen', iso_time(g.first_seen),
                          'lastSeen', iso_time(g.last_seen));

create function notify_new_errors() returns trigger language plpgsql as $$
begin
  if not exists (select from notification_endpoints) then return null; end if;
  perform notify_endpoints(g.env, g.first_seen, 'error.new', error_facts(g))
     from fresh n join error_groups g on g.env = n.env and g.id = n.id
    where exists (select from notification_endpoints e where e.env = n.env);
  return null;
end $$;

create function notify_reopened_errors() returns trigger language plpgsql as $$
begin
  if not exists (select from notification_endpoints) then return null; end if;
  perform notify_endpoints(g.env, n.at, case n.act when 'regressed' then 'error.regressed' else 'error.unignored' end,
                           error_facts(g) || jsonb_build_object('before', n.before))
     from fresh n join error_groups g on g.env = n.env and g.id = n.group_id
    where n.act in ('regressed', 'ignoreEnded') and exists (select from notification_endpoints e where e.env = n.env);
  return null;
end $$;

create function notify_versions() returns trigger language plpgsql as $$
begin
  if not exists (select from notification_endpoints) then return null; end if;
  perform notify_endpoints(n.env, n.created_at, 'deployment.registered', jsonb_build_object(
            'version', n.version, 'contentHash', n.content_hash, 'createdAt', iso_time(n.created_at)))
     from fresh n where exists (select from notification_endpoints e where e.env = n.env);
  return null;
end $$;

create function notify_promotions() returns trigger language plpgsql as $$
begin
  if not exists (select from notification_endpoints) then return null; end if;
  perform notify_endpoints(new.env, clock_timestamp(), 'deployment.promoted', jsonb_strip_nulls(jsonb_build_object(
            'version', v.version, 'contentHash', v.content_hash, 'createdAt', iso_time(v.created_at),
            'before', (select b.version from versions b where tg_op = 'UPDATE' and b.id = old.version_id))))
     from versions v where v.id = new.version_id;
  return null;
end $$;

create function notify_missed_ticks() returns trigger language plpgsql as $$
begin
  if not exists (select from notification_endpoints) then return null; end if;
  perform notify_endpoints(n.env, n.recorded_at, 'schedule.missed', jsonb_strip_nulls(jsonb_build_object(
            'id', s.id, 'taskIdentifier', s.task, 'cron', s.cron, 'timezone', s.timezone, 'externalId', s.external_id,
            'from', iso_time(n.from_at), 'until', iso_time(n.until_at))))
     from fresh n join schedules s on s.env = n.env and s.id = n.schedule_id
    where n.reason = 'missed' and exists (select from notification_endpoints e where e.env = n.env);
  return null;
end $$;

create trigger notify_new_errors after insert on error_groups referencing new table as fresh
  for each statement execute function notify_new_errors();
create trigger notify_reopened_errors after insert on error_audit referencing new table as fresh
  for each statement execute function notify_reopened_errors();
create trigger notify_versions after insert on versions referencing new table as fresh
  for each statement execute function notify_versions();
create trigger notify_new_current after insert on current_versions
  for each row execute function notify_promotions();
create trigger notify_promotions after update on current_versions
  for each row when (old.version_id <> new.version_id) execute function notify_promotions();
create trigger notify_missed_ticks after insert on schedule_skips referencing new table as fresh
  for each statement execute function notify_missed_ticks();
