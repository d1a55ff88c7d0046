-- Channels and sessions.

-- Channels: ordered logs of records, numbered from 0 without gaps. The `.in` and `.out` of sessions are channels, and so are the streams of
-- runs. A record is durable before its number is returned.
create table channels (
  -- the first 16 bytes of a digest of environment and name, so the id follows from the name
  id uuid primary key,
  env int not null,
  name text collate "C" not null,
  -- the session that the channel belongs to; null for a stream of a run
  session_id text collate "C",
  -- the number of the next record: the tail
  next_seq bigint not null default 0,
  -- records before this one were trimmed
  start_seq bigint not null default 0 check (start_seq between 0 and next_seq),
  -- time of the last record; times of one channel never decrease
  last_at timestamptz,
  -- Nothing can be appended after this time. The column is in the row that an append locks, so the two are ordered.
  closed_at timestamptz,
  expires_at timestamptz,
  -- writers that present another token are rejected
  fence text,
  created_at timestamptz not null
  -- No index has a column that an append writes, so the new row version fits on the page of the old one.
) with (
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000
);
create index channels_by_session on channels (env, session_id) where session_id is not null;
create index channels_of_runs on channels (created_at) where session_id is null;

-- The records that one flush appended to one channel. One row holds all of them, because a row for each record costs twice as much.
create table channel_segments (
  channel uuid not null,
  -- number of its first record
  seq bigint not null,
  count int not null check (count > 0),
  bytes int not null,
  at timestamptz not null,
  -- JSON: [[body, part id or null, headers or null], …], trailing nulls omitted
  records text not null,
  primary key (channel, seq)
);
-- Summarized as the table grows: the job that uses `session_scan` reads the end of the table, and a range without a summary is read whole.
create index channel_segments_by_time on channel_segments using brin (at) with (autosummarize = on);
-- The data is written once and mostly sent from memory: compressing it costs more than storing the bytes.
alter table channel_segments alter column records set storage external;

-- Appends with a part id, for as long as their records exist: a part that is resent resolves to the same records.
create table channel_parts (
  channel uuid not null,
  -- digest of the part id
  part uuid not null,
  seq bigint not null,
  count int not null,
  primary key (channel, part)
);

create table sessions (
  env int not null,
  id text collate "C" not null,
  -- the client's own name for the session; never changes
  external_id text collate "C" check (length(external_id) between 1 and 256),
  type text not null,
  task text not null,
  trigger_config jsonb not null,
  tags text[] not null default '{}',
  -- JSON text of an object
  metadata text,
  -- the run that serves the session, or last served it
  run_id text collate "C",
  -- how far the last run had read `.in` when it left the remaining messages to another run
  consumed bigint,
  closed_at timestamptz,
  closed_reason text,
  expires_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (env, id),
  check (closed_at is not null or closed_reason is null)
) with (fillfactor = 80);
create unique index sessions_by_external_id on sessions (env, external_id) where external_id is not null;
create index sessions_by_type on sessions (env, type, id);
create index sessions_by_task on sessions (env, task, id);
create index sessions_by_tag on sessions using gin (tags);
-- For the job that deletes sessions long after they ended.
create index sessions_by_close on sessions (closed_at) where closed_at is not null;
create index sessions_by_expiry on sessions (expires_at) where expires_at is not null;

-- One row: appends before `until` have been checked for messages that no run was started for.
create table session_scan (until timestamptz not null);
insert into session_scan values (now());
