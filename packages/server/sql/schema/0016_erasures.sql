-- Erasure of ended runs (decision 39), and retention by task and status (decision 40).

-- When the data of the run was erased: then it has no payload, output, error, metadata, tags or keys.
alter table runs add column erased_at timestamptz;
-- When the data that the runs received was erased, because one of the runs was.
alter table events add column erased_at timestamptz;
alter table webhook_deliveries add column erased_at timestamptz;

-- Finds the streams of a run.
create index channels_by_run on channels (env, split_part(name, '/', 2)) where session_id is null;

-- A request to erase or delete ended runs. A background job processes its runs a few hundred at a time, and commits its position with them.
create table erasures (
  env int not null,
  id text collate "C" not null,
  -- ERASE: the data of the runs; DELETE: the runs too
  mode text not null check (mode in ('ERASE', 'DELETE')),
  status text not null default 'PENDING' check (status in ('PENDING', 'COMPLETED', 'ABORTED')),
  -- The selected runs, in the filter format of run lists, or their ids. Both are null after the end, because they may be personal data.
  filter jsonb,
  run_ids text[],
  -- continues before this id, newest first
  cursor text collate "C" not null,
  erased int not null default 0,
  -- runs that had not ended when the erasure was requested, and named runs that do not exist
  skipped int not null default 0,
  created_at timestamptz not null,
  -- when the next step is due
  due_at timestamptz not null,
  completed_at timestamptz,
  primary key (env, id),
  check ((status = 'PENDING') = (completed_at is null)),
  check (num_nonnulls(filter, run_ids) = (status = 'PENDING')::int)
);
create index erasures_pending on erasures (due_at) where status = 'PENDING';
create index erasures_over on erasures (completed_at) where completed_at is not null;

-- Days that runs are retained after they ended with a status of this class; null: as run_retention_days.
--   completed: COMPLETED; failed: FAILED, CRASHED, SYSTEM_FAILURE, TIMED_OUT; canceled: CANCELED, EXPIRED
alter table environments
  add column completed_retention_days int check (completed_retention_days >= 1),
  add column failed_retention_days int check (failed_retention_days >= 1),
  add column canceled_retention_days int check (canceled_retention_days >= 1);

-- The retention in seconds that a task declares; null: that of the environment. A task that a version no longer has keeps its row, so
-- deploying another version does not delete its history earlier.
create table task_retention (
  env int not null,
  task text collate "C" not null,
  completed int,
  failed int,
  canceled int,
  primary key (env, task)
);

-- How far the runs of an environment were read for each retention except the longest one: each run is read once when it may expire. Runs that
-- had not expired when they were read are in `retention_late`.
create table retention_positions (
  env int not null,
  retention_ms bigint not null,
  -- continues after this run id
  cursor text collate "C" not null default '',
  -- the tasks and classes of status with this retention; when one is added, reading starts again
  members text[] not null,
  primary key (env, retention_ms)
);

-- Runs that ended long after they were created, or have not ended, and when to read them again.
create table retention_late (
  env int not null,
  run_id text collate "C" not null,
  due timestamptz not null,
  primary key (env, run_id)
);
create index retention_late_by_due on retention_late (env, due);
