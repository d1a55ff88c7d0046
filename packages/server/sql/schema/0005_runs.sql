-- Runs, where they wait, and where they execute.
--
-- `runs` is wide and changes little. What changes often is narrow and stands apart:
--   queued      a run that waits for a slot; its row is deleted when it is claimed
--   delayed     a run that waits for a time (delay, retry)
--   pending_version  a run that waits for a version that has its task
--   leases      a live attempt
--   suspended   a live attempt that waits for something within its code
-- A run without a final status is in exactly one of these five, or is held by a batch that is not sealed yet. Its live status follows from
-- where it is.
--
-- The five tables and `lanes` are empty one moment and full the next, while their files stay large. If VACUUM or ANALYZE runs at the wrong
-- moment, the statistics say that there are no rows. The planner then considers every access path equally cheap, and may choose an index on
-- the first column of the key, or a join that reads the whole table for each row. Every lookup then reads all dead rows until the next
-- autovacuum. For that reason each lookup has only one possible plan, whatever the statistics say (runs/engine/plans.test.ts):
--   * No two indexes of such a table begin with a column that one statement compares with. A queue belongs to one environment, so lanes
--     and leases are found by their queue. Where the environment must match as well it is compared as `env + 0`, which no index has.
--   * A row is read by its key in a lateral subquery with a limit, which the planner cannot turn into another kind of join. Where there may
--     be several rows `offset 0` does the same.
--   * `(select true … limit 1) is null` replaces `not exists`, which the planner may turn into a join with the whole table.
--   * `num_nulls(x) = 1` replaces `x is null` beside a whole key, because an index that begins with `x` would serve the latter.
--   * There are no bitmap scans: they do not mark dead index entries, so the next scan reads them again.
-- Their autovacuum starts after a fixed number of dead rows, does not pause, and never locks the table to shorten its file.

create table queues (
  id int generated always as identity primary key,
  env int not null,
  name text not null check (length(name) between 1 and 128),
  -- as the current version declares it; null is no limit of its own
  concurrency_limit int check (concurrency_limit >= 0),
  -- set by a user, takes precedence over the declared one
  concurrency_override int check (concurrency_override >= 0),
  overridden_at timestamptz,
  paused boolean not null default false,
  created_at timestamptz not null default now(),
  unique (env, name)
);

create table runs (
  env int not null,
  id text collate "C" not null,
  task text not null,
  -- the final status; null until the run has ended
  status text check (status in ('COMPLETED', 'CANCELED', 'FAILED', 'CRASHED', 'SYSTEM_FAILURE', 'EXPIRED', 'TIMED_OUT')),
  queue_id int not null,
  concurrency_key text,

  -- Payload, output and error. The type `application/store` says that the text names a packet.
  payload text,
  payload_type text,
  output text,
  output_type text,
  error jsonb,
  error_fingerprint_id int,
  metadata text,
  -- the metadata that the run was triggered with, once it has changed: a replay begins with it
  seed_metadata text,
  -- names of its streams, in the order in which they were first written
  streams text[],
  tags text[],

  -- Options
  max_attempts int,
  max_duration int,
  machine text,
  -- chosen by the caller; has no effect
  region text,
  ttl int,
  priority_ms int not null default 0,
  is_test boolean not null default false,
  idempotency_key text,
  idempotency_key_options jsonb,
  -- later triggers with this key may have replaced its data
  debounce_key text,

  -- Execution
  -- position in its lane: milliseconds since 1970 when it was last due, minus its priority
  sort_key bigint not null,
  -- set when the run first starts and kept through its retries
  version_id int,
  -- revision of the environment variables that the last attempt ran with; null if there was none
  env_revision int,
  -- finished attempts, and the one that was live at the last write
  attempt int not null default 0,
  -- how often its runner was lost
  rescues smallint not null default 0,
  -- a wait is registered for its end
  awaited boolean not null default false,
  duration_ms bigint not null default 0,

  -- Origin
  parent_id text collate "C",
  root_id text collate "C",
  depth smallint not null default 0,
  schedule_id text collate "C",
  batch_id text collate "C",
  -- JSON text of the event that started it, without the payload, which is the run's own
  event text,
  replay_of text,
  -- of the request that created it; the same request sent again finds this run
  request_key uuid,

  created_at timestamptz not null,
  delayed_until timestamptz,
  started_at timestamptz,
  finished_at timestamptz,
  updated_at timestamptz,
  primary key (env, id),
  check ((status is null) = (finished_at is null))
-- Space for the update at the end of each run: 92 of 100 updates stay on their page, against 38 with a fillfactor of 70.
) with (fillfactor = 50);
create unique index runs_by_request on runs (env, request_key) where request_key is not null;
-- Children of a run, for the cancellation of a tree. It holds only runs that have a parent.
create index runs_by_parent on runs (env, parent_id) where parent_id is not null;
-- Which runs name a packet. Few runs do.
create index runs_by_stored_payload on runs (env, payload) where payload_type = 'application/store';
create index runs_by_stored_output on runs (env, output) where output_type = 'application/store';

-- What lists of runs are found by. A list is in the order of the runs' ids, which is the order of their creation.
--
-- An index of `runs` for each filter would make a trigger a third slower, and an index on what changes (status, version) would make every
-- completion rewrite all of them. Instead, `run_facets` says in which spans of ids there are runs with some value: one row the first time a
-- value occurs in a span. A list reads those spans and checks their runs. A rare value costs one row a run, and a common one almost nothing.
--
-- A span is the first ten characters of an id: `run_` and all but the last two characters of the time, 1.3 seconds. A row without such a run
-- does no harm. A run without its row would be missed, so rows are written in the same transaction as the value or before.
--
--   o:<task>           a run of the task in its own queue, task/<task>
--   t:<task>           a run of the task in another queue
--   q:<queue id>       a run in a queue that is not its task's own
--   v:<version id>     a run that is bound to the version
--   g:<tag>  m:<machine>  r:<region>  c:<schedule>  d (a test)
--   s:<status>         a run that ended with the status
--   e:<status>:<task>  the same for one task; not for COMPLETED
--   x:<fingerprint>    a run that failed with the fingerprint (its id); written when its error is counted
create table run_facets (
  env int not null,
  facet text collate "C" not null,
  span text collate "C" not null check (length(span) = 10),
  primary key (env, facet, span)
) with (
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 100000
);

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

create table idempotency_keys (
  env int not null,
  task text not null,
  key text not null,
  run_id text collate "C" not null,
  expires_at timestamptz not null,
  -- it was changed to another run than the one it was made for (a debounced call)
  redirected boolean not null default false,
  primary key (env, task, key)
);
create index idempotency_keys_by_expiry on idempotency_keys (expires_at);
-- Found when that run is deleted: a task may have millions of keys.
create index idempotency_keys_redirected on idempotency_keys (env, run_id) where redirected;

-- The run that waits under a debounce key. When that run is no longer delayed, the row has no meaning and the next trigger takes it over.
create table debounces (
  env int not null,
  task text not null,
  key text not null check (length(key) <= 512),
  run_id text collate "C" not null,
  due timestamptz not null,
  primary key (env, task, key)
);
create index debounces_by_due on debounces (due);

-- Lanes created one after the other are neighbours in the ring, in blocks of 64. What a claim reads and writes for one lane is then mostly
-- where that of the one before was. The blocks are in no order, so new lanes do not always come after old ones, and no key is always first.
create sequence lane_turns;
create function lane_turn(n bigint) returns int language sql immutable as
$$ select ((hashint8(n / 64) & 33554431) * 64 + n % 64)::int $$;

-- A lane is one waiting line: a queue of an environment, one concurrency key of it, and the version that its runs are pinned to: its id,
-- or 0 for whatever version is current. Full lanes are blocked and then cost nothing.
create table lanes (
  id bigint generated always as identity primary key,
  env int not null,
  queue_id int not null,
  key text not null,
  pinned_version int not null,
  blocked boolean not null default false,
  -- position in the ring that claims scan
  turn int not null default lane_turn(nextval('lane_turns')),
  constraint lanes_by_queue_key unique (queue_id, key, pinned_version)
) with (
  fillfactor = 70,
  autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000
);
-- For claims only, which ask for `route + 0`, because `lanes_by_queue_key` has that column as well.
create index lanes_ready on lanes (env, (pinned_version + 0), turn) where not blocked;
create index lanes_blocked on lanes (env) where blocked;

create table queued (
  lane_id bigint not null,
  sort_key bigint not null,
  run_id text collate "C" not null,
  env int not null,
  expires_at timestamptz,
  primary key (lane_id, sort_key, run_id)
) with (
  autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000
);
create index queued_by_expiry on queued (expires_at) where expires_at is not null;

create table delayed (
  env int not null,
  run_id text collate "C" not null,
  due timestamptz not null,
  -- between two attempts, not before the first: such a run is EXECUTING, not DELAYED
  retry boolean not null default false,
  primary key (env, run_id)
) with (
  autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000
);
create index delayed_by_due on delayed (due);
create index delayed_first on delayed (env, run_id) where not retry;
create index delayed_again on delayed (env, run_id) where retry;

create table pending_version (
  env int not null,
  task text not null,
  run_id text collate "C" not null,
  expires_at timestamptz,
  primary key (env, task, run_id)
) with (
  autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000
);
create index pending_version_by_expiry on pending_version (expires_at) where expires_at is not null;
-- For lists only, which use these expressions. Other statements look for a task or for the whole key.
create index pending_version_by_run on pending_version ((env + 0), (run_id || ''));

create sequence lease_fences;

create table leases (
  env int not null,
  run_id text collate "C" not null,
  -- proof that an attempt is the live one: it grows with every lease
  fence bigint not null default nextval('lease_fences'),
  runner_id text collate "C" not null,
  queue_id int not null,
  key text not null,
  version_id int not null,
  attempt int not null,
  leased_at timestamptz not null,
  cancel_requested boolean not null default false,
  primary key (env, run_id)
) with (
  autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000
);
-- How many runs execute in a queue and concurrency key is counted here. There is no counter.
create index leases_by_queue_key on leases (queue_id, key);

-- What a claim remembers of a run while it continues with the next lanes.
create type claimed_run as (
  run_id text, fence bigint, attempt int, version_id int, task text, payload text, payload_type text, metadata text,
  tags text[], is_test boolean, queue_id int, concurrency_key text, max_attempts int, max_duration int, machine text,
  priority_ms int, created_at timestamptz, parent_id text, root_id text, schedule_id text, event text, batch_id text,
  started_at timestamptz
);
