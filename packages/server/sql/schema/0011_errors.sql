-- Error groups. A failed run is an occurrence of one fingerprint of its task. A group has one fingerprint, or several after a merge.
--   error_arrivals      occurrences that are not counted yet; the transaction that ends the runs only appends here
--   error_fingerprints  every known fingerprint, and the group that it belongs to now
--   error_groups        identity and state of a group, and its all-time totals
--   error_versions      the worker versions that a fingerprint occurred in, with all-time totals
--   error_tallies       running totals of a fingerprint: the count of any range takes two lookups
--   error_hours         hourly counts of each fingerprint, to order all groups by their counts in a range
--   error_days, error_weeks  the same by day and by week
-- `tally_errors` moves arrivals into all the others, one call at a time in an environment. A statement that reads or changes groups calls it
-- first, and a job calls it twice a second, so groups are always up to date.
-- Ids of runs and versions are plain values here: those tables have their own retention.

-- Exact where many groups have the same total, otherwise approximate.
create function error_total_slot(p_total bigint) returns int language sql immutable parallel safe
return case when p_total <= 64 then p_total::int else (16 * ln(p_total::float8) / ln(2::float8))::int end;

create table error_groups (
  env int not null,
  id text collate "C" not null check (id ~ '^error_[0-9a-f]{16}$'),
  -- its first fingerprint; the group's id is a hash of it
  fingerprint text not null,
  -- the id of the fingerprint that the group is named after
  number int not null,
  task text not null,
  type text not null,
  -- normalized
  message text not null,
  status text not null default 'unresolved' check (status in ('unresolved', 'resolved', 'ignored')),
  total bigint not null check (total >= 0),
  first_seen timestamptz not null,
  last_seen timestamptz not null,
  -- For the list's indexes: a group that fails constantly changes its index entries occasionally, not at every tally.
  seen_slot timestamptz not null generated always as (date_bin('10 seconds', last_seen, 'epoch')) stored,
  total_slot int not null generated always as (error_total_slot(total)) stored,
  -- the group that it was merged into: it then has no fingerprints of its own, and its id resolves to that group
  merged_into text collate "C",
  resolved_at timestamptz,
  resolved_in_version text,
  resolved_by text,
  ignored_at timestamptz,
  ignored_until timestamptz,
  ignored_reason text,
  ignored_by text,
  -- occurrences per minute
  ignored_until_rate double precision check (ignored_until_rate > 0),
  -- further occurrences, counted from ignored_from_total
  ignored_until_total bigint check (ignored_until_total > 0),
  ignored_from_total bigint,
  primary key (env, id),
  check ((status = 'resolved') = (resolved_at is not null)),
  check ((status = 'ignored') = (ignored_at is not null)),
  check (status = 'resolved' or (resolved_in_version is null and resolved_by is null)),
  check (status = 'ignored' or (ignored_until is null and ignored_reason is null and ignored_by is null
         and ignored_until_rate is null and ignored_until_total is null and ignored_from_total is null)),
  check (merged_into is null or status = 'unresolved')
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
create index error_groups_by_seen on error_groups (env, seen_slot desc) include (number, first_seen) where merged_into is null;
create index error_groups_by_total on error_groups (env, total_slot desc, id) include (number) where merged_into is null;
create index error_groups_by_first on error_groups (env, first_seen desc, id) include (number) where merged_into is null;
create index error_groups_by_task on error_groups (env, task, status) include (number);
create index error_groups_decided on error_groups (env, status) include (number) where status <> 'unresolved';
create index error_groups_merged on error_groups (env, merged_into) where merged_into is not null;

create table error_fingerprints (
  id int generated always as identity primary key,
  env int not null,
  task text not null,
  fingerprint text not null,
  -- the group that currently counts its occurrences, and the group that starts with it
  group_id text collate "C" not null,
  own_group text collate "C" not null,
  total bigint not null default 0,
  -- null until it is first tallied
  first_seen timestamptz,
  last_seen timestamptz,
  unique (env, task, fingerprint)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
create index error_fingerprints_by_group on error_fingerprints (env, group_id);
create index error_fingerprints_elsewhere on error_fingerprints (env, id) where group_id <> own_group;

-- The first error with each fingerprint.
create table error_samples (
  fingerprint_id int primary key references error_fingerprints on delete cascade,
  type text not null,
  message text not null,
  sample jsonb not null
);

-- `at` has whole milliseconds, as on the wire. `version` is 0 if the run was never bound to one. `started` is the latest start among the
-- runs. `spans` are the id spans of the runs, for `run_facets`. They are written when the occurrences are tallied, so that ending a run
-- does not wait for an index that many groups share.
create table error_arrivals (
  env int not null,
  fingerprint_id int not null,
  version int not null,
  at timestamptz not null,
  started timestamptz not null,
  n int not null,
  spans text[] not null default '{}'
) with (
  autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000
);
create index error_arrivals_by_env on error_arrivals (env);

create table error_versions (
  env int not null,
  fingerprint_id int not null,
  version int not null,
  total bigint not null,
  first_seen timestamptz not null,
  last_seen timestamptz not null,
  primary key (env, fingerprint_id, version)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
create index error_versions_by_version on error_versions (env, version);

-- After the occurrences at `at`, in the order of `at` and `version`, the fingerprint had occurred `total` times, and `version_total` times
-- in this version. Deleting a row leaves the others correct, which is how old rows are compacted. `n` is the number of occurrences since
-- the row before. It includes deleted rows, so the rows of an hour always add up to its total.
create table error_tallies (
  env int not null,
  fingerprint_id int not null,
  at timestamptz not null,
  version int not null,
  n int not null,
  total bigint not null,
  version_total bigint not null,
  primary key (env, fingerprint_id, at, version) include (total)
  -- vacuumed early, so that counts are read from the indexes alone
) with (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
create index error_tallies_by_version on error_tallies (env, fingerprint_id, version, at) include (version_total);
create index error_tallies_by_time on error_tallies (env, at);

-- Roll-ups: how often a fingerprint occurred in the hour, the UTC day, or the week from Monday that begins at `at`. `tally_errors` adds its
-- counts to these rows, so a late occurrence needs no special handling. Old hours are deleted; days and weeks never are.
create table error_hours (
  env int not null,
  fingerprint_id int not null,
  at timestamptz not null,
  version int not null,
  n int not null,
  primary key (env, at, fingerprint_id, version)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

create table error_days (
  env int not null,
  fingerprint_id int not null,
  at timestamptz not null,
  n bigint not null,
  version int not null,
  primary key (env, at, fingerprint_id, version)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

-- Counts all versions together: with a new version every day, a week would otherwise have as many rows as days.
create table error_weeks (
  env int not null,
  fingerprint_id int not null,
  at timestamptz not null,
  n bigint not null,
  primary key (env, at, fingerprint_id)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

-- Tallies before `hours_until` have been compacted to the last of each hour, and those before `days_until` to the last of each day.
create table error_compaction (
  env int primary key,
  hours_until timestamptz not null default '-infinity',
  days_until timestamptz not null default '-infinity'
);

-- Changes of groups: the actor, the time, and the previous state. Without an actor, the group changed automatically.
create table error_audit (
  id bigint generated always as identity primary key,
  env int not null,
  group_id text collate "C" not null,
  at timestamptz not null,
  act text not null check (act in ('resolved', 'ignored', 'unresolved', 'regressed', 'ignoreEnded', 'merged', 'split')),
  user_id text,
  credential_id text,
  before jsonb not null
);
create index error_audit_by_group on error_audit (env, group_id, id);

-- Rules of a project: matching errors go to the group that the rule chooses, regardless of their fingerprint.
create table error_rules (
  id text collate "C" primary key,
  project_id int not null references projects on delete cascade,
  -- the first matching rule applies
  position int not null,
  -- patterns; null matches anything
  task text,
  type text,
  message text,
  group_key text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check (num_nonnulls(task, type, message) > 0)
);
create index error_rules_by_project on error_rules (project_id, position);

-- Every character of a text and every pair of adjacent characters, for searches shorter than a trigram.
create function error_grams(p_type text, p_message text) returns text[] language sql immutable parallel safe as $$
  select array_agg(distinct g.gram)
    from (select lower(p_type) as text union all select lower(p_message)) w
    cross join lateral generate_series(1, length(w.text)) as i (at)
    cross join lateral (values (substr(w.text, i.at, 1)), (substr(w.text, i.at, 2))) as g (gram)
$$;

-- A copy of the texts of groups, for searches. Rows of `error_groups` change often, and would rewrite these indexes each time.
create table error_texts (
  env int not null,
  group_id text collate "C" not null,
  number int not null,
  type text not null,
  message text not null,
  primary key (env, group_id)
);
create index error_texts_by_grams on error_texts using gin (error_grams(type, message));

-- Text search uses an extension that ships with PostgreSQL. If it cannot be installed, a search reads the texts.
do $$
begin
  create extension if not exists pg_trgm;
  create index error_texts_by_type on error_texts using gin (type gin_trgm_ops);
  create index error_texts_by_message on error_texts using gin (message gin_trgm_ops);
exception when others then
  raise notice 'searches of error groups are not indexed: %', sqlerrm;
end $$;
