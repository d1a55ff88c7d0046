-- Schedules. `next_nominal` is the next tick that has not fired, and `next_at` is when it starts: the same instant, or its position in the
-- window. Both are null if there is no next tick. Advancing them and recording the tick commit together with the runs that it creates.
create table schedules (
  env int not null,
  id text collate "C" not null check (id like 'sched\_%'),
  type text not null check (type in ('IMPERATIVE', 'DECLARATIVE')),
  task text not null,
  cron text not null,
  -- English description of `cron`
  description text not null,
  timezone text not null,
  -- "<n>m", "<n>h" or "<p>%"; null means none
  spread text,
  deduplication_key text,
  -- false for a random key, which is not shown to callers
  has_own_key boolean not null default false,
  external_id text,
  active boolean not null default true,
  -- For a declared schedule: the current version does not declare it. It is hidden and does not fire. If a later version declares it again,
  -- it reappears unchanged.
  set_aside boolean not null default false,
  missed text not null default 'once' check (missed ~ '^(skip|once|all:\d+[mhd])$'),
  overlap text not null default 'allow' check (overlap in ('allow', 'skip', 'queue', 'cancel')),
  -- when the expression took effect; its ticks are strictly later
  since timestamptz not null,
  next_nominal timestamptz,
  next_at timestamptz,
  -- the last tick that created a run, and that run
  last_nominal timestamptz,
  last_run_id text collate "C",
  created_at timestamptz not null,
  primary key (env, id),
  unique (env, deduplication_key),
  check ((next_nominal is null) = (next_at is null)),
  check (active or next_at is null),
  check (type = 'IMPERATIVE' or deduplication_key is null)
) with (
  fillfactor = 70,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000
);
-- Indexed so that a server reads only the first entry while nothing is due.
create index schedules_by_next on schedules (next_at) where next_at is not null;
create unique index schedules_declared on schedules (env, task) where type = 'DECLARATIVE';

-- Ticks that created a run. The key identifies a tick, so that a second attempt to fire it finds the row.
create table schedule_ticks (
  env int not null,
  schedule_id text collate "C" not null,
  nominal_at timestamptz not null,
  -- when the run should have started: the nominal time, or its position in the window
  due_at timestamptz not null,
  fired_at timestamptz not null,
  backfilled boolean not null default false,
  run_id text collate "C" not null,
  primary key (env, schedule_id, nominal_at)
) with (autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000);
create index schedule_ticks_by_time on schedule_ticks (fired_at);

-- Ticks that created no run: all from `from_at` to `until_at`, inclusive.
create table schedule_skips (
  env int not null,
  schedule_id text collate "C" not null,
  from_at timestamptz not null,
  until_at timestamptz not null check (until_at >= from_at),
  -- missed: no server was running in time; overlap: an earlier run had not ended; no_runner: a development environment without a runner;
  -- no_task: the current version has no such scheduled task; archived: the environment is archived; failed: its run could not be created
  reason text not null check (reason in ('missed', 'overlap', 'no_runner', 'no_task', 'archived', 'failed')),
  recorded_at timestamptz not null,
  primary key (env, schedule_id, from_at)
);
create index schedule_skips_by_time on schedule_skips (recorded_at);
