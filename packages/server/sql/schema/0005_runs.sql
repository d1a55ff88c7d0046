-- Runs, and the data that determines how new ones are created.
--
-- `runs` is wide and rarely changes. Data that changes often is in narrow, separate tables (0006_queues.sql, 0007_attempts.sql):
--   queued           a run that waits for a slot; its row is deleted when it is claimed
--   delayed          a run that waits for a time (delay, retry)
--   pending_version  a run that waits for a version that has its task
--   leases           a live attempt
--   suspended        a live attempt that waits for something within its code
-- A run without a final status is in exactly one of these five, or is held by a batch that is not sealed yet. Its live status follows from its
-- table.

create table runs (
  env int not null,
  id text collate "C" not null,
  task text not null,
  -- the final status; null until the run has ended
  status text check (status in ('COMPLETED', 'CANCELED', 'FAILED', 'CRASHED', 'SYSTEM_FAILURE', 'EXPIRED', 'TIMED_OUT')),
  queue_id int not null,
  concurrency_key text,

  -- Payload, output and error. The type `application/store` means that the text names a packet.
  payload text,
  payload_type text,
  output text,
  output_type text,
  error jsonb,
  error_fingerprint_id int,
  metadata text,
  -- the metadata that the run was triggered with, set once the metadata changes; a replay starts with it
  seed_metadata text,
  -- names of its streams, in the order of their first write
  streams text[],
  tags text[],
  -- The run's `path:<path id>:<value>` facets, as in `run_facets`. Null if its environment has declared no path.
  path_facets text[],

  -- Options
  -- a short human-readable text from the trigger
  description text,
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
  -- later triggers with this key may have replaced the run's data
  debounce_key text,
  singleton_key text,
  -- set for a run that collects or has collected
  collect_key text,
  -- as sent by the trigger
  external_deployment_id text,

  -- Execution
  -- position in its lane: milliseconds since 1970 when it was last due, minus its priority
  sort_key bigint not null,
  -- set when the run first starts; retries use the same version
  version_id int,
  -- revision of the environment variables for the last attempt; null before the first attempt
  env_revision int,
  -- finished attempts, plus the one that was live at the last write
  attempt int not null default 0,
  -- number of times its runner was lost
  rescues smallint not null default 0,
  -- whether a wait is registered for its end
  awaited boolean not null default false,
  duration_ms bigint not null default 0,
  -- When the code of the current or final attempt last started running, if the attempt has waited in its code; null if it never waited.
  last_started_at timestamptz,
  -- the runner of the attempt that ended the run; 0 for an unnamed runner; null if the run ended without an attempt
  last_runner_no int,

  -- Origin
  parent_id text collate "C",
  root_id text collate "C",
  depth smallint not null default 0,
  schedule_id text collate "C",
  batch_id text collate "C",
  -- JSON text of the event that started the run, without the payload, which is the run's own
  event text,
  replay_of text,
  -- the W3C trace context of the triggering caller
  traceparent text,
  -- key of the request that created the run; a repeated request finds this run
  request_key uuid,

  created_at timestamptz not null,
  delayed_until timestamptz,
  started_at timestamptz,
  finished_at timestamptz,
  updated_at timestamptz,
  primary key (env, id),
  check ((status is null) = (finished_at is null))
-- Leaves space for the update at the end of each run: 92% of updates stay on their page, compared with 38% at a fillfactor of 70.
) with (fillfactor = 50);
create unique index runs_by_request on runs (env, request_key) where request_key is not null;
-- Children of a run, for cancelling a tree. Contains only runs that have a parent.
create index runs_by_parent on runs (env, parent_id) where parent_id is not null;
-- Runs that refer to a packet. Few runs do.
create index runs_by_stored_payload on runs (env, payload) where payload_type = 'application/store';
create index runs_by_stored_output on runs (env, output) where output_type = 'application/store';

-- The index behind lists of runs. Lists are sorted by run id, which is the order of creation.
--
-- An index on `runs` for each filter would make triggers a third slower, and an index on changing columns (status, version) would make
-- every completion rewrite all of them. Instead, `run_facets` records which id spans contain runs with a value: one row the first time a
-- value occurs in a span. A list reads those spans and checks their runs. A rare value costs one row per run, and a common one almost
-- nothing.
--
-- A span is the first ten characters of an id: `run_` and all but the last two characters of the time, 1.3 seconds. A row without such a run is
-- harmless. A run without its row would be missed, so rows are written in the same transaction as the value or earlier.
--
-- A facet is `<kind>:<value>`, such as `tag:urgent`. `runs/facets/facet.ts` describes the kinds.
create table run_facets (
  env int not null,
  facet text collate "C" not null,
  span text collate "C" not null check (length(span) = 10),
  primary key (env, facet, span)
) with (
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 100000
);

-- Paths of metadata and payloads that lists of runs can filter by. Nothing is written here if an environment has declared no path.
create table run_paths (
  id int generated always as identity primary key,
  env int not null references environments on delete cascade,
  -- metadata.customer.id or payload.order
  path text collate "C" not null check (path ~ '^(metadata|payload)\.' and length(path) <= 256),
  created_at timestamptz not null,
  -- Existing runs are indexed from newest to oldest; all runs from this id onward are indexed. Null before indexing begins.
  backfilled_from text collate "C",
  backfilled_at timestamptz,
  unique (env, path)
);
create index run_paths_pending on run_paths (created_at) where backfilled_at is null;

-- The run that each key resolves to.
create table idempotency_keys (
  env int not null,
  task text not null,
  key text not null,
  run_id text collate "C" not null,
  expires_at timestamptz not null,
  -- the key was redirected from its original run to another one (a debounced call)
  redirected boolean not null default false,
  primary key (env, task, key)
);
create index idempotency_keys_by_expiry on idempotency_keys (expires_at);
-- Finds keys when their run is deleted, because a task may have millions of keys.
create index idempotency_keys_redirected on idempotency_keys (env, run_id) where redirected;

-- The run that waits under a debounce key. Once that run is no longer delayed, the row is obsolete and the next trigger reuses it.
create table debounces (
  env int not null,
  task text not null,
  key text not null check (length(key) <= 512),
  run_id text collate "C" not null,
  due timestamptz not null,
  primary key (env, task, key)
);
create index debounces_by_due on debounces (due);

-- At most one run of a task and singleton key executes, and at most one waits. A row exists while one of them is live. Triggers lock
-- the row, and so does the end of one of its runs (release_singleton).
create table singletons (
  env int not null,
  task text not null,
  -- empty for the whole task
  key text not null check (length(key) <= 512),
  -- the latest run
  run_id text collate "C" not null,
  -- The live run before `run_id`, if any. Until it has ended, `run_id` is in `delayed` and due at infinity.
  previous text collate "C",
  primary key (env, task, key)
);

-- Batching: one run for the triggers of a task and key that arrive within a period (decision 0028). While such a run collects, it is in
-- `delayed`. A row points to the run that collects under a key. Once that run is no longer delayed, the row is obsolete and the next trigger
-- reuses it. Adding a payload locks the row.
create table collecting (
  env int not null,
  task text not null,
  -- empty for the whole task
  key text not null check (length(key) <= 512),
  -- destination of the run: payloads for another queue, concurrency key or version are not added to it
  lane text not null,
  run_id text collate "C" not null,
  due timestamptz not null,
  primary key (env, task, key, lane)
);
create index collecting_over on collecting (due);

-- A payload of a collecting run. When the run stops collecting, the payloads are combined in `runs.payload`. For another day, the row maps
-- the request to its run.
create table run_parts (
  env int not null,
  run_id text collate "C" not null,
  position int not null check (position > 0),
  -- JSON; null once the run has stopped collecting
  payload text,
  -- how to decode it, if it is not plain JSON
  meta jsonb,
  -- total size of all payloads up to this one
  bytes bigint not null,
  request_key uuid,
  closed_at timestamptz,
  primary key (env, run_id, position)
);
create unique index run_parts_by_request on run_parts (env, request_key) where request_key is not null;
create index run_parts_over on run_parts (closed_at) where closed_at is not null;

-- When triggers with a limit were accepted, for as long as this affects the limit. A limit with other numbers is a separate one, even with the
-- same key.
create table trigger_starts (
  env int not null,
  task text not null,
  -- empty for the whole task
  key text not null check (length(key) <= 512),
  burst int not null,
  -- microseconds: at most `burst` triggers are accepted in any span
  span bigint not null,
  -- as in queue_starts
  at timestamptz[] not null,
  n int[] not null,
  -- from this time the row has no effect
  over_at timestamptz not null,
  primary key (env, task, key, burst, span)
) with (
  fillfactor = 70,
  autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000
);
create index trigger_starts_over on trigger_starts (over_at);

-- Delivered rows of outboxes. A process may die after delivering a row and before deleting it; the row then arrives again and resolves to the
-- existing run. Also finds the run of a row that an idempotency key or a debounce resolved to another run.
create table outbox_receipts (
  env int not null,
  -- id of the row, which is also the id of its run unless it resolved to another run
  id text collate "C" not null,
  run_id text collate "C" not null,
  created_at timestamptz not null,
  primary key (env, id)
);
create index outbox_receipts_by_age on outbox_receipts (created_at);

-- A trigger before it becomes a run: one row with everything that determines the run (docs/decisions/0033-one-row-for-a-run.md). Its
-- attributes are those of runs/create/row.ts, in that order.
create type new_run as (
  env int, id text, task text, queue_id int, concurrency_key text, payload text, payload_type text, metadata text, sort_key bigint,
  priority_ms int, ttl int, max_attempts int, max_duration int, request_key uuid, delayed_until timestamptz, version_id int,
  batch_id text, parent_id text, root_id text, depth smallint, tags text[], path_facets text[], machine text, region text,
  description text, is_test boolean, idempotency_key text, idempotency_key_options jsonb, debounce_key text, singleton_key text,
  collect_key text, schedule_id text, event text, traceparent text, replay_of text, external_deployment_id text,

  -- Attributes that affect the run but are not stored with it. `state`: `queued`, `delayed`, `pendingVersion`, or `held` by an unsealed
  -- batch.
  state text, expires_at timestamptz,
  -- the attempt of the parent that sends the trigger; null if any run may be the parent
  parent_fence bigint,
  idempotency_expires_at timestamptz, debounce_max_ms bigint, debounce_data jsonb, singleton_conflict text,
  limit_key text, limit_burst int, limit_span bigint, limit_drops boolean,
  collect_lane text, collect_max int, collect_ms bigint, part text, part_meta jsonb,
  -- a runner in the calling process that has a free slot, and its version
  runner_id text, runner_version int,

  -- The outcome of the trigger (identify_runs).
  target_id text, is_cached boolean, refused text, wait_until timestamptz
);
