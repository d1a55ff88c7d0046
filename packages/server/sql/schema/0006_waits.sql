-- What runs wait for within their code (docs/waits.md).
--
-- A run that waits gives up its slot: its lease moves to `suspended` with the same fence, where it counts against no limit. When something
-- that it waits for is over, it is ready: it gets a slot again before any run that has not started, and its code continues. If the process
-- that held its code is gone, the run is queued instead and its code runs from the start. `waits` says which of its waits are over, and those
-- do not wait again.

create table suspended (
  env int not null,
  run_id text collate "C" not null,
  fence bigint not null,
  -- the runner that holds its code; null when that is gone
  runner_id text collate "C",
  queue_id int not null,
  key text not null,
  version_id int not null,
  attempt int not null,
  -- how long the attempt has run, waits not included
  active_ms bigint not null,
  since timestamptz not null,
  -- tells this suspension from earlier and later ones of the attempt
  suspension bigint not null default nextval('lease_fences'),
  cancel_requested boolean not null default false,
  -- since when it is ready to continue
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

-- The waits of an attempt. They stay when they are over, as long as the run exists. An attempt that starts again finds them by their keys.
create table waits (
  env int not null,
  run_id text collate "C" not null,
  attempt int not null,
  -- which of the attempt's waits, such as `run/resize/2`: its third wait for a run of `resize`
  key text collate "C" not null,
  kind text not null check (kind in ('RUN', 'BATCH', 'TIME', 'TOKEN', 'MESSAGE')),
  -- the run, batch or token that it waits for; for a message, the session
  target text collate "C",
  -- the run or token whose end is watched; for a batch, one of its runs that are not over; for a message, the session's channel
  watched text collate "C",
  -- for a message: the number that the message must exceed
  beyond bigint,
  due timestamptz,
  created_at timestamptz not null,
  over_at timestamptz,
  -- the attempt was told that it is over
  reported boolean not null default false,
  primary key (env, run_id, attempt, key)
);
create index waits_by_watched on waits (watched) where over_at is null and watched is not null;
create index waits_by_due on waits (due) where over_at is null and due is not null;
create index waits_untold on waits (env, run_id) where over_at is not null and not reported;

-- Tokens that somebody outside completes.
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
