-- Attempts of runs: ended ones, the waits of live ones, and step results.

-- Attempts that did not end their run. The attempt that ends a run has no row here: the run itself records how and when it ended, and has
-- two columns for the remaining data (`last_started_at`, `last_runner_no`). A run that succeeds on its first attempt therefore needs no row
-- here.
create table attempts (
  env int not null,
  run_id text collate "C" not null,
  -- the fence of its lease, so the rows of a run are in the order in which its attempts started
  fence bigint not null,
  -- The number of the attempt. The next one has the same number unless this one failed: other outcomes do not count as an attempt.
  number int not null,
  -- FAILED: its code failed, and a retry was due at `due`; LOST: its runner was lost; RETURNED: its runner stopped and returned it; DETACHED:
  -- the process that held its code ended while it waited
  outcome text not null check (outcome in ('FAILED', 'LOST', 'RETURNED', 'DETACHED')),
  started_at timestamptz not null,
  ended_at timestamptz not null,
  -- excluding waits
  active_ms bigint not null,
  runner_no int,
  version_id int,
  env_revision int,
  -- name, message and stack, shortened
  error jsonb,
  error_fingerprint_id int,
  due timestamptz,
  primary key (env, run_id, fence),
  check ((outcome = 'FAILED') = (due is not null))
);

-- The waits of attempts within their code (docs/waits.md).
--
-- A waiting run gives up its slot: its lease moves to `suspended` with the same fence, where it does not count against any limit. When
-- something it waits for has ended, the run is ready. It gets a slot before any run that has not started, and its code continues. If the
-- process that held its code has ended, the run is queued instead and its code runs from the start. `waits` records which of its waits have
-- ended; those do not wait again.
create table suspended (
  env int not null,
  run_id text collate "C" not null,
  fence bigint not null,
  -- the runner that holds its code; null if the code is gone
  runner_id text collate "C",
  -- key of `runner_names`
  runner_no int,
  queue_id int not null,
  key text not null,
  version_id int not null,
  attempt int not null,
  -- how long the attempt has run, excluding waits
  active_ms bigint not null,
  since timestamptz not null,
  -- distinguishes this suspension from earlier and later ones of the attempt
  suspension bigint not null default nextval('lease_fences'),
  cancel_requested boolean not null default false,
  -- when it became ready to continue
  ready_at timestamptz,
  primary key (env, run_id)
) with (
  autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000
);
create index suspended_by_runner on suspended (runner_id);
create index suspended_ready on suspended (env) where ready_at is not null;
create index suspended_ready_by_queue_key on suspended (queue_id, key) where ready_at is not null;

-- The waits of an attempt. They remain after they have ended, as long as the run exists. An attempt that starts again finds them by key.
create table waits (
  env int not null,
  run_id text collate "C" not null,
  attempt int not null,
  -- identifies the wait within the attempt: `run/resize/2` is its third wait for a run of `resize`
  key text collate "C" not null,
  kind text not null check (kind in ('RUN', 'BATCH', 'TIME', 'TOKEN', 'MESSAGE')),
  -- the run, batch or token that it waits for; for a message, the session
  target text collate "C",
  -- the run or token whose end is watched; for a batch, one of its unfinished runs; for a message, the session's channel
  watched text collate "C",
  -- for a message: the number that the message must exceed
  beyond bigint,
  due timestamptz,
  created_at timestamptz not null,
  over_at timestamptz,
  -- whether the attempt has been notified that the wait ended
  reported boolean not null default false,
  primary key (env, run_id, attempt, key)
);
create index waits_by_watched on waits (watched) where over_at is null and watched is not null;
create index waits_by_due on waits (due) where over_at is null and due is not null;
create index waits_unreported on waits (env, run_id) where over_at is not null and not reported;

-- Tokens that something outside Millrace completes.
create table waitpoints (
  env int not null,
  id text collate "C" not null,
  status text not null default 'WAITING' check (status in ('WAITING', 'COMPLETED', 'TIMED_OUT')),
  idempotency_key text,
  idempotency_expires_at timestamptz,
  -- the secret part of its callback URL
  sealed bytea,
  tags text[],
  expires_at timestamptz,
  created_at timestamptz not null,
  completed_at timestamptz,
  output text,
  output_type text,
  primary key (env, id),
  check ((status = 'WAITING') = (completed_at is null))
);
create unique index waitpoints_by_id on waitpoints (id);
create unique index waitpoints_by_key on waitpoints (env, idempotency_key) where idempotency_key is not null;
create index waitpoints_by_expiry on waitpoints (expires_at) where status = 'WAITING' and expires_at is not null;
create index waitpoints_by_end on waitpoints (completed_at) where completed_at is not null;

-- Tokens that an event completes: the first event with this name whose payload matches the filter. A row is deleted when its token has ended,
-- at the latest when an event of that name is delivered or the token is pruned.
create table event_waits (
  env int not null,
  name text collate "C" not null,
  waitpoint_id text collate "C" not null,
  -- JSON text
  filter text,
  primary key (env, name, waitpoint_id)
);
create unique index event_waits_by_token on event_waits (waitpoint_id);

-- Steps of runs (docs/steps.md). A row is the result of one step, stored once by the attempt that executed it. A failed step also has a
-- row, which the result of a later attempt replaces. A run without steps has no rows here.
create table run_steps (
  env int not null,
  run_id text collate "C" not null,
  -- with its index where a name occurs more than once: `charge#2`
  name text collate "C" not null check (length(name) between 1 and 208),
  kind text not null check (kind in ('RUN', 'SLEEP', 'EVENT', 'TRIGGER', 'TRIGGER_AND_WAIT')),
  status text not null check (status in ('COMPLETED', 'FAILED')),
  -- its position among the steps of the run, in the order they ended
  seq int not null check (seq between 1 and 10000),
  attempt int not null,
  version_id int,
  tries int not null,
  -- whether the run's code was waiting only for this step when it called it (docs/steps.md, "When code changes")
  is_sequential boolean not null default false,
  started_at timestamptz not null,
  ended_at timestamptz not null,
  detail text,
  -- the readable form: secrets are replaced
  output text,
  output_type text,
  -- the form that code reads, if it differs; encrypted with the master key in the context `run_steps:<sealed_id>`
  sealed bytea,
  sealed_id text,
  error jsonb,
  -- the run that a replay from a later step copied it from
  taken_from text collate "C",
  primary key (env, run_id, name),
  check ((error is null) = (status = 'COMPLETED')),
  check ((sealed is null) = (sealed_id is null))
);
create index run_steps_in_order on run_steps (env, run_id, seq, name);
create index run_steps_by_packet on run_steps (env, output) where output_type = 'application/store';
