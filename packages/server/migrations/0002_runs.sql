-- The run engine. `runs` is wide and changes little; what is hot is narrow and lives elsewhere:
--   queued   a run that waits for a slot (its row leaves when it is claimed)
--   delayed  a run that waits for a time (delay, retry)
--   parked   a run that waits for a version that knows its task
--   leases   a live attempt
--   suspended (0011)  a live attempt that waits for something in the midst of its code
-- A run without a final status is in exactly one of the five. Its live status follows from where it is.

create table queues (
  id int generated always as identity primary key,
  env int not null,
  name text not null check (length(name) between 1 and 128),
  -- as the current version declares it; null is no limit of its own
  concurrency_limit int check (concurrency_limit >= 0),
  -- by hand, wins over the declared one
  concurrency_override int check (concurrency_override >= 0),
  paused boolean not null default false,
  created_at timestamptz not null default now(),
  unique (env, name)
);

create table versions (
  id int generated always as identity primary key,
  env int not null,
  version text not null,
  -- order of deployment within the environment
  sequence int not null,
  content_hash text not null,
  created_at timestamptz not null default now(),
  unique (env, version),
  unique (env, sequence)
);
create index versions_by_content on versions (env, content_hash);

create table current_versions (
  env int primary key,
  version_id int not null references versions
);

create table tasks (
  version_id int not null references versions on delete cascade,
  id text not null,
  -- the manifest, as the version declared it
  manifest jsonb not null,
  primary key (version_id, id)
);

create table runs (
  env int not null,
  id text collate "C" not null,
  task text not null,
  -- the final status; null while the run is alive
  status text check (status in ('COMPLETED', 'CANCELED', 'FAILED', 'CRASHED', 'SYSTEM_FAILURE', 'EXPIRED', 'TIMED_OUT')),
  queue_id int not null,
  concurrency_key text,
  payload text,
  payload_type text,
  output text,
  output_type text,
  error jsonb,
  -- bound when it first starts; kept through retries
  version_id int,
  -- finished attempts, and the one that was live at the last write
  attempt int not null default 0,
  -- how often its runner was lost under it
  rescues smallint not null default 0,
  max_attempts int,
  max_duration int,
  machine text,
  -- a word of the caller's: it decides nothing
  region text,
  ttl int,
  -- its turn in a lane: milliseconds since 1970 when it was last due, less its priority
  ord bigint not null,
  priority_ms int not null default 0,
  tags text[],
  metadata text,
  -- names of its streams, in the order in which they were first written
  streams text[],
  is_test boolean not null default false,
  idempotency_key text,
  idempotency_key_options jsonb,
  parent_id text collate "C",
  root_id text collate "C",
  depth smallint not null default 0,
  created_at timestamptz not null,
  delayed_until timestamptz,
  started_at timestamptz,
  finished_at timestamptz,
  updated_at timestamptz,
  duration_ms bigint not null default 0,
  primary key (env, id),
  check ((status is null) = (finished_at is null))
-- Room for the end of each run beside its beginning: 92 of 100 updates stay on their page, against 38 with a fillfactor of 70.
) with (fillfactor = 50);
-- Children of a run, for cancellation of a tree; only runs that have a parent are in it.
create index runs_by_parent on runs (env, parent_id) where parent_id is not null;

create table idempotency_keys (
  env int not null,
  task text not null,
  key text not null,
  run_id text collate "C" not null,
  expires_at timestamptz not null,
  primary key (env, task, key)
);
create index idempotency_keys_by_expiry on idempotency_keys (expires_at);

-- A lane is one order of waiting: an environment's queue, one concurrency key of it, one route. Route 0 is "whatever version
-- is current"; another is the id of the version that the runs are bound to. Full lanes are blocked and then cost nothing.
create table lanes (
  id bigint generated always as identity primary key,
  env int not null,
  queue_id int not null,
  key text not null,
  route int not null,
  blocked boolean not null default false,
  -- place in the ring that claims walk; random, so that no key is always first
  turn int not null default (random() * 2147483000)::int,
  unique (env, queue_id, key, route)
) with (fillfactor = 70);
create index lanes_ready on lanes (env, route, turn) where not blocked;
create index lanes_blocked on lanes (env) where blocked;

create table queued (
  lane_id bigint not null,
  ord bigint not null,
  run_id text collate "C" not null,
  env int not null,
  expires_at timestamptz,
  primary key (lane_id, ord, run_id)
);
create index queued_by_expiry on queued (expires_at) where expires_at is not null;

create table delayed (
  env int not null,
  run_id text collate "C" not null,
  due timestamptz not null,
  primary key (env, run_id)
);
create index delayed_by_due on delayed (due);

create table parked (
  env int not null,
  task text not null,
  run_id text collate "C" not null,
  expires_at timestamptz,
  primary key (env, task, run_id)
);
create index parked_by_expiry on parked (expires_at) where expires_at is not null;

create sequence lease_fences;

create table leases (
  env int not null,
  run_id text collate "C" not null,
  -- the proof that an attempt is the live one: it grows with every lease
  fence bigint not null default nextval('lease_fences'),
  runner_id text collate "C" not null,
  queue_id int not null,
  key text not null,
  version_id int not null,
  attempt int not null,
  leased_at timestamptz not null,
  cancel_requested boolean not null default false,
  primary key (env, run_id)
);
-- Occupancy of a place is counted here, never kept in a counter.
create index leases_by_place on leases (env, queue_id, key);

create table runners (
  id text collate "C" primary key,
  env int not null,
  host text not null,
  pid int not null,
  -- which of its connections is the present one: the end of an older one means nothing
  connection text not null,
  connected_at timestamptz not null,
  -- when its leases end unless it is heard of again
  expires_at timestamptz not null
);
create index runners_by_expiry on runners (expires_at);
create index runners_by_env on runners (env);

create table run_logs (
  env int not null,
  run_id text collate "C" not null,
  id bigint generated always as identity,
  attempt int not null,
  at timestamptz not null,
  level text not null check (level in ('debug', 'info', 'log', 'warn', 'error')),
  message text not null,
  properties text,
  primary key (env, run_id, id)
);

create index run_logs_by_time on run_logs using brin (at);

-- Hot tables are analysed and vacuumed by a fixed number of rows: a share of a large table comes too late.
alter table queued set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000);
alter table leases set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000);
alter table lanes set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000);
alter table delayed set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
