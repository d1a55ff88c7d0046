-- Events that clients send, notifications that the server sends, and alerts.

-- Events as clients sent them, under ids that the clients chose, and their results. An event starts its runs in the transaction that stores it,
-- or in the one that deletes its row from `pending_events` when it is due.
create table events (
  env int not null,
  id text collate "C" not null check (length(id) between 1 and 255),
  -- null: the event was sent without a name, and starts nothing
  name text collate "C",
  -- JSON text of the event as the API returns it, including name and payload
  event text not null,
  deliver_at timestamptz,
  delivered_at timestamptz,
  canceled_at timestamptz,
  -- its delivery cannot be stored; `failure` contains the reason
  failed_at timestamptz,
  failure text,
  -- the runs that its delivery created; empty if the event had no subscriptions at that time
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

-- Events that are not due yet. Delivery and cancellation both begin by deleting this row, so only one of them happens.
create table pending_events (
  env int not null,
  id text collate "C" not null,
  due timestamptz not null,
  primary key (env, id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
create index pending_events_by_due on pending_events (due);

-- Addresses that notifications of an environment are sent to.
create table notification_endpoints (
  id text collate "C" primary key check (id like 'endpoint\_%'),
  env int not null references environments on delete cascade,
  -- webhook: a signed request. slack: a message to an incoming webhook; `url` is only its origin, and `sealed` has the full URL. email: a mail
  -- over SMTP; `url` is the server, and `sealed` has the password, or an empty text for none.
  kind text not null default 'webhook' check (kind in ('webhook', 'slack', 'email')),
  url text not null,
  -- for email: the server without the password, the sender and the recipients
  mail jsonb,
  description text,
  -- 'run.failed', 'error.*' or '*'
  types text[] not null check (cardinality(types) > 0),
  sealed bytea not null,
  -- after a rotation, both secrets sign until this time
  sealed_before bytea,
  sealed_before_until timestamptz,
  -- the first failed attempt since the last success
  failing_since timestamptz,
  -- the last failed attempt, and the duration of the failures up to then; periods in which nothing was sent do not count
  failed_at timestamptz,
  failing_for interval not null default '0',
  disabled_at timestamptz,
  -- user: manually; failing: no delivery was accepted for days; gone: the endpoint responded with 410
  disabled_by text check (disabled_by in ('user', 'failing', 'gone')),
  created_at timestamptz not null,
  check ((disabled_at is null) = (disabled_by is null)),
  check ((sealed_before is null) = (sealed_before_until is null)),
  constraint notification_endpoints_mail check ((kind = 'email') = (mail is not null)),
  constraint notification_endpoints_rotated check (kind = 'webhook' or sealed_before is null)
);
create index notification_endpoints_by_env on notification_endpoints (env);

-- One notification, independent of its recipients. Written in the transaction that it reports on.
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
  -- when the next attempt is due; null when delivery has ended. An attempt first postpones this, so another process tries again if this one
  -- dies.
  due timestamptz,
  attempts int not null default 0,
  delivered_at timestamptz,
  -- time of the last attempt
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

-- A condition of an environment that is checked every few seconds, and the notifications that were sent about it.
create table alerts (
  id text collate "C" primary key check (id like 'alert\_%'),
  env int not null references environments on delete cascade,
  kind text not null
    check (kind in ('error.new', 'error.regressed', 'task.failureRate', 'queue.age', 'schedule.missed', 'runner.none')),
  name text,
  -- null means all tasks
  task text,
  queue text,
  threshold double precision not null check (threshold > 0),
  min_runs int check ((min_runs is not null) = (kind = 'task.failureRate')),
  window_s int not null check (window_s >= 0),
  quiet_s int not null check (quiet_s > 0),
  -- ids; null means all endpoints that accept alerts
  endpoints text[] check (cardinality(endpoints) > 0),
  enabled boolean not null default true,
  -- time of the next check
  next_at timestamptz not null,
  -- set while the condition holds, from the notification about its start to the one about its end
  firing_since timestamptz,
  last_sent_at timestamptz,
  -- the threshold was reached during the quiet period: the notification is sent when that ends
  message_pending boolean not null default false,
  created_at timestamptz not null,
  check (task is null or queue is null)
) with (fillfactor = 70);
create index alerts_by_env on alerts (env);
create index alerts_by_next on alerts (next_at) where enabled;

-- Events that an alert counts and has not reported yet: new error groups, missed ticks. Written in the transaction of the event.
create table alert_events (
  id bigint generated always as identity primary key,
  env int not null,
  alert_id text collate "C" not null references alerts on delete cascade,
  at timestamptz not null,
  -- as in a notification of the event
  properties jsonb not null
);
create index alert_events_by_time on alert_events (alert_id, at);

-- The subjects, such as queues, for which an alert's condition holds.
create table alert_subjects (
  alert_id text collate "C" not null references alerts on delete cascade,
  subject text not null,
  env int not null,
  -- when the condition began to hold
  since timestamptz not null,
  value double precision not null,
  -- whether a notification named the subject
  notified boolean not null default false,
  -- when the condition ceased to hold; only for reported subjects
  cleared_at timestamptz check (cleared_at is null or notified),
  primary key (alert_id, subject)
);
