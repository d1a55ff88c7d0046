-- Telemetry of runs: the log lines and spans of their code, and the roll-ups behind time series.

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
-- Lines of all runs of an environment, in arrival order.
create index run_logs_by_env on run_logs (env, id);

-- Lets searches skip lines. A row records which trigrams occur in some thousand consecutive lines of an environment, as a Bloom filter with one
-- hash. It is written in the background, once the lines are a few seconds old. A trigram index would multiply the cost of storing a line.
create table log_blocks (
  env int not null,
  first_id bigint not null,
  last_id bigint not null,
  at_from timestamptz not null,
  at_to timestamptz not null,
  terms bytea not null,
  primary key (env, last_id)
);
-- Compressing it would cost more than reading it.
alter table log_blocks alter column terms set storage external;

-- Spans of the code of runs. A row has the spans of one attempt that arrived together, as a JSON list. With a row for each span, a run with ten
-- spans would cost ten rows and ten index entries, although spans are never looked up individually.
create table run_spans (
  env int not null,
  run_id text collate "C" not null,
  id bigint generated always as identity,
  attempt int not null,
  -- when they arrived
  at timestamptz not null,
  trace_id text not null,
  -- how many spans the list has, and how many were dropped before it was sent
  count int not null,
  dropped int not null,
  -- size of the list in bytes
  size int not null,
  spans text not null,
  primary key (env, run_id, id)
);
create index run_spans_by_time on run_spans using brin (at);

-- Roll-ups: the number of events of runs in each minute, five minutes, hour, six hours and day, from which time series are read.
--
-- A server process counts its work in memory. It adds the counts to minutes once a second and to wider roll-ups every ten seconds
-- (add_run_stats). This happens outside the statements that create and complete runs, which therefore do not become slower. A process that dies
-- loses the counts it has not added. Events within the database alone (an expiry, a cancellation) are in `run_stat_arrivals` until a process
-- counts them.
create table run_stats (
  env int not null,
  -- minutes: the widths of telemetry/stats/range.ts
  width int not null check (width in (1, 5, 60, 360, 1440)),
  -- the subject of the counts, so that each series is read separately:
  --   a           all runs of the environment
  --   t:<task>  q:<queue name>  v:<version>
  series text collate "C" not null,
  -- beginning of the minute, the hour, or the UTC day
  at timestamptz not null,
  -- runs that were created, and those that ended with each status
  triggered int not null default 0,
  completed int not null default 0,
  failed int not null default 0,
  crashed int not null default 0,
  system_failure int not null default 0,
  timed_out int not null default 0,
  canceled int not null default 0,
  expired int not null default 0,
  -- failed attempts that are followed by another one
  retried int not null default 0,
  -- new error groups, and groups that occurred again after they were resolved
  new_errors int not null default 0,
  regressed_errors int not null default 0,
  -- Time in the queue before each attempt, and from its hand-over to its end. Histograms are the counts of consecutive buckets, starting with
  -- bucket `…_from`: bucket i counts durations longer than 2^((i-1)/8) seconds and not longer than 2^(i/8). The sums are in milliseconds.
  waited_from smallint,
  waited int[] not null default '{}',
  waited_ms bigint not null default 0,
  lasted_from smallint,
  lasted int[] not null default '{}',
  lasted_ms bigint not null default 0,
  -- the maximum found by samples: waiting runs, and milliseconds that the oldest of them had waited; null without a sample
  max_waiting int,
  max_oldest_ms bigint,
  primary key (env, width, series, at)
) with (
  fillfactor = 70,
  autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05
);
-- By age, for deletion, and all series of a time, to find the largest.
create index run_stats_by_time on run_stats (env, width, at);

-- The last flush of each server process: a flush that is resent adds nothing.
create table run_stat_flushes (
  process uuid primary key,
  flush bigint not null,
  at timestamptz not null
);

-- Counts from within a transaction, until a process takes them with its next flush.
create table run_stat_arrivals (
  env int not null,
  task text not null,
  queue_id int,
  version_id int,
  -- a column of run_stats
  what text not null check (what in ('triggered', 'failed', 'canceled', 'expired', 'new_errors', 'regressed_errors')),
  at timestamptz not null,
  n int not null
) with (
  autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000
);

-- The last sample of the waiting and executing runs in the whole installation. One server process takes it at a time
-- (telemetry/stats/sample.ts), and all of them report it in their metrics, so that reading metrics does not count waiting runs.
create table fleet_sample (
  only_row boolean primary key default true check (only_row),
  -- No process takes another sample before this time.
  next_at timestamptz not null default '-infinity',
  taken_at timestamptz,
  sample jsonb
);
insert into fleet_sample default values;
