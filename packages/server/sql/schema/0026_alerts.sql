-- Alerts, and endpoints that speak to people.

alter table notification_endpoints
  -- webhook: a signed request. slack: a message to an incoming webhook; `url` is only its origin, and `sealed` has all of it.
  -- email: a mail by SMTP; `url` is the server, and `sealed` has the password, or an empty text for none.
  add column kind text not null default 'webhook' check (kind in ('webhook', 'slack', 'email')),
  -- of email: the server without the password, the sender and the recipients
  add column mail jsonb,
  add constraint notification_endpoints_mail check ((kind = 'email') = (mail is not null)),
  add constraint notification_endpoints_rotated check (kind = 'webhook' or sealed_before is null);

-- A condition of an environment that is checked every few seconds, and what endpoints were told of it.
create table alerts (
  id text collate "C" primary key check (id like 'alert\_%'),
  env int not null references environments on delete cascade,
  kind text not null
    check (kind in ('error.new', 'error.regressed', 'task.failureRate', 'queue.age', 'schedule.missed', 'runner.none')),
  name text,
  -- null: all of them
  task text,
  queue text,
  threshold double precision not null check (threshold > 0),
  min_runs int check ((min_runs is not null) = (kind = 'task.failureRate')),
  window_s int not null check (window_s >= 0),
  quiet_s int not null check (quiet_s > 0),
  -- ids; null: all that take alerts
  endpoints text[] check (cardinality(endpoints) > 0),
  enabled boolean not null default true,
  -- when it is checked next
  next_at timestamptz not null,
  -- from the message that says that the condition holds until the one that says that it is over
  firing_since timestamptz,
  last_sent_at timestamptz,
  -- the threshold was reached within the quiet time: the message comes when that is over
  owed boolean not null default false,
  created_at timestamptz not null,
  check (task is null or queue is null)
) with (fillfactor = 70);
create index alerts_by_env on alerts (env);
create index alerts_by_next on alerts (next_at) where enabled;

-- Events that an alert counts and has not told of: new error groups, missed ticks. Written in the transaction that makes them true.
create table alert_events (
  id bigint generated always as identity primary key,
  env int not null,
  alert_id text collate "C" not null references alerts on delete cascade,
  at timestamptz not null,
  -- as a notification of the event has it
  facts jsonb not null
);
create index alert_events_by_time on alert_events (alert_id, at);

-- What the condition of an alert holds for, such as a queue.
create table alert_subjects (
  alert_id text collate "C" not null references alerts on delete cascade,
  subject text not null,
  env int not null,
  -- it holds since then
  since timestamptz not null,
  value double precision not null,
  -- a message named it
  told boolean not null default false,
  -- it does not hold any more since then; only of what was told
  cleared_at timestamptz check (cleared_at is null or told),
  primary key (alert_id, subject)
);
