-- Error groups. A failed run is an occurrence of one group.
--   error_groups       who the group is, its state, its totals of all time
--   error_versions     in which worker versions it occurred, with totals of all time
--   error_occurrences  one row a failed run; pruned by age
--   error_tallies      running totals at certain moments: counts of any range without adding up rows, and after pruning
-- Ids of runs and versions are plain values here: those tables have a life of their own.

create table error_groups (
  env int not null,
  id text collate "C" not null check (id ~ '^error_[0-9a-f]{16}$'),
  fingerprint text not null,
  task text not null,
  type text not null,
  -- normalised
  message text not null,
  status text not null default 'unresolved' check (status in ('unresolved', 'resolved', 'ignored')),
  total bigint not null check (total > 0),
  first_seen timestamptz not null,
  last_seen timestamptz not null,
  -- What the list's index is on: a group that fails all the time moves in it six times a minute, not at every failure.
  seen_slot timestamptz not null generated always as (date_bin('10 seconds', last_seen, 'epoch')) stored,
  resolved_at timestamptz,
  resolved_in_version text,
  resolved_by text,
  ignored_at timestamptz,
  ignored_until timestamptz,
  ignored_reason text,
  ignored_by text,
  -- occurrences a minute
  ignored_until_rate double precision check (ignored_until_rate > 0),
  -- further occurrences, counted from ignored_from_total
  ignored_until_total bigint check (ignored_until_total > 0),
  ignored_from_total bigint,
  -- the newest tally: every occurrence up to tallied_at is in it
  tallied_at timestamptz,
  tallied_total bigint not null default 0,
  primary key (env, id),
  check ((status = 'resolved') = (resolved_at is not null)),
  check ((status = 'ignored') = (ignored_at is not null)),
  check (status = 'resolved' or (resolved_in_version is null and resolved_by is null)),
  check (status = 'ignored' or (ignored_until is null and ignored_reason is null and ignored_by is null
         and ignored_until_rate is null and ignored_until_total is null and ignored_from_total is null))
) with (fillfactor = 70);
create index error_groups_by_seen on error_groups (env, seen_slot desc);
create index error_groups_by_task on error_groups (env, task);
create index error_groups_settled on error_groups (env, status) where status <> 'unresolved';

-- One raw error a group, as it was first met.
create table error_samples (
  env int not null,
  group_id text collate "C" not null,
  run text collate "C" not null,
  sample jsonb not null,
  primary key (env, group_id)
);

create table error_versions (
  env int not null,
  group_id text collate "C" not null,
  version int not null,
  total bigint not null,
  first_seen timestamptz not null,
  last_seen timestamptz not null,
  -- for the index below, which then changes once a day
  seen_day timestamptz not null generated always as (date_bin('1 day', last_seen, 'epoch')) stored,
  primary key (env, group_id, version)
) with (fillfactor = 70);
create index error_versions_by_version on error_versions (env, version, seen_day) include (group_id, first_seen);

-- `version` is 0 when the run was never bound to one. `at` has whole milliseconds, as the wire has.
create table error_occurrences (
  env int not null,
  run text collate "C" not null,
  group_id text collate "C" not null,
  at timestamptz not null,
  version int not null,
  primary key (env, run)
);
create index error_occurrences_by_group on error_occurrences (env, group_id, at);
create index error_occurrences_by_time on error_occurrences (env, at);

-- `total` occurrences of the group came at or before `at`; of one version, or of all where version is 0.
-- Where the group has a tally, every version that occurred since the tally before has one too.
create table error_tallies (
  env int not null,
  group_id text collate "C" not null,
  version int not null,
  at timestamptz not null,
  total bigint not null,
  primary key (env, group_id, version, at)
);
create index error_tallies_by_time on error_tallies (env, at) include (group_id) where version = 0;

-- Who changed the state of a group, when, and what it was before. Without an actor the group changed by itself.
create table error_audit (
  id bigint generated always as identity primary key,
  env int not null,
  group_id text collate "C" not null,
  at timestamptz not null,
  act text not null check (act in ('resolved', 'ignored', 'unresolved', 'regressed', 'ignoreEnded')),
  user_id text,
  credential_id text,
  before jsonb not null
);
create index error_audit_by_group on error_audit (env, group_id, id);

-- Free text search: the extension ships with PostgreSQL. Where it may not be installed, a search reads the groups.
do $$
begin
  create extension if not exists pg_trgm;
  create index error_groups_by_type_text on error_groups using gin (type gin_trgm_ops);
  create index error_groups_by_message_text on error_groups using gin (message gin_trgm_ops);
exception when others then
  raise notice 'searches of error groups are not indexed: %', sqlerrm;
end $$;

alter table error_groups set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
alter table error_versions set (autovacuum_vacuum_scale_factor = 0.05);

-- The state of a group, as the audit keeps it.
create function error_state(g error_groups) returns jsonb language sql immutable
return jsonb_strip_nulls(jsonb_build_object(
  'status', g.status, 'resolvedAt', g.resolved_at, 'resolvedInVersion', g.resolved_in_version, 'resolvedBy', g.resolved_by,
  'ignoredAt', g.ignored_at, 'ignoredUntil', g.ignored_until, 'ignoredReason', g.ignored_reason,
  'ignoredByUserId', g.ignored_by, 'ignoredUntilOccurrenceRate', g.ignored_until_rate,
  'ignoredUntilTotalOccurrences', g.ignored_until_total));

-- A group becomes unresolved by itself: a regression, or the end of an ignore. The caller holds its row.
create function reopen_error(p_env int, p_group text, p_at timestamptz, p_act text) returns void language sql
begin atomic
  insert into error_audit (env, group_id, at, act, before)
  select g.env, g.id, p_at, p_act, error_state(g) from error_groups g where g.env = p_env and g.id = p_group;
  update error_groups set status = 'unresolved', resolved_at = null, resolved_in_version = null, resolved_by = null,
         ignored_at = null, ignored_until = null, ignored_reason = null, ignored_by = null,
         ignored_until_rate = null, ignored_until_total = null, ignored_from_total = null
   where env = p_env and id = p_group;
end;

-- Whether what just happened ends the rest of a group that was resolved or ignored; null if not.
-- p_started: the latest start among the runs; p_versions: theirs.
create function error_reopening(g error_groups, p_at timestamptz, p_started timestamptz, p_versions int[]) returns text
language plpgsql stable as $$
declare
  v_since interval;
begin
  if g.status = 'resolved' then
    if g.resolved_in_version is null then
      -- a run that started before the fix says nothing about it
      return case when p_at > g.resolved_at and p_started > g.resolved_at then 'regressed' end;
    end if;
    -- a version that is not registered yet has no runs: nothing can be of it or later
    return (select 'regressed' from versions fix join versions run on run.env = fix.env and run.id = any (p_versions)
             where fix.env = g.env and fix.version = g.resolved_in_version and run.sequence >= fix.sequence limit 1);
  end if;
  if g.status <> 'ignored' then return null; end if;
  if g.ignored_until <= p_at or g.total - g.ignored_from_total >= g.ignored_until_total then return 'ignoreEnded'; end if;
  if g.ignored_until_rate is null then return null; end if;
  -- A minute that slides; a rate below one a minute needs as many minutes as it takes to expect one.
  v_since := make_interval(mins => least(greatest(1, ceil(1 / g.ignored_until_rate)), 43200)::int);
  return (select 'ignoreEnded' from (
            select from error_occurrences o
             where o.env = g.env and o.group_id = g.id and o.at > p_at - v_since and o.at >= g.ignored_at
             -- enough to know; an ignored group that fails all the time costs no more
             limit least(g.ignored_until_rate * extract(epoch from v_since) / 60 + 1, 1000000)::bigint) o
          having count(*) > g.ignored_until_rate * extract(epoch from v_since) / 60);
end $$;

-- Occurrences that came out of order, at or before the newest tally: the tallies since then count them too.
create function correct_error_tallies(p_env int, p_group text, p_at timestamptz, p_versions int[]) returns void
language plpgsql as $$
declare
  v_from timestamptz;
begin
  select min(t.at) into v_from from error_tallies t
   where t.env = p_env and t.group_id = p_group and t.version = 0 and t.at >= p_at;
  insert into error_tallies (env, group_id, version, at, total)
  select p_env, p_group, v.version, v_from, coalesce((
           select t.total from error_tallies t
            where t.env = p_env and t.group_id = p_group and t.version = v.version and t.at < v_from
            order by t.at desc limit 1), 0)
    from (select distinct version from unnest(p_versions) as v (version) where version <> 0) v
  on conflict do nothing;
  update error_tallies t set total = t.total + late.n
    from (select version, count(*) as n from unnest(p_versions || array_fill(0, array[cardinality(p_versions)]))
              as v (version) where version <> 0 group by version
          union all select 0, cardinality(p_versions)) late
   where t.env = p_env and t.group_id = p_group and t.version = late.version and t.at >= p_at;
  update error_groups set tallied_total = tallied_total + cardinality(p_versions) where env = p_env and id = p_group;
end $$;

-- Records failed runs: one element of each array a run. Called in the transaction that ends them, as its last act, because
-- the rows of their groups stay locked until it commits. A run that is recorded already is passed over.
-- Groups are locked in the order of their ids, so that flushes of several processes wait for each other but never in a ring.
create function record_errors(
  p_at timestamptz, p_env int[], p_run text[], p_task text[], p_fingerprint text[], p_group text[], p_type text[],
  p_message text[], p_version int[], p_sample jsonb[], p_started timestamptz[]
) returns void
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = on
as $$
declare
  v_at timestamptz := date_trunc('milliseconds', p_at);
  due record;
  v_act text;
begin
  for due in
    with fresh as (
      insert into error_occurrences (env, run, group_id, at, version)
      select i.env, i.run, i.group_id, v_at, coalesce(i.version, 0)
        from unnest(p_env, p_run, p_group, p_version) as i (env, run, group_id, version)
       order by i.env, i.run
      on conflict do nothing
      returning env, run, group_id, version
    ), touched as materialized (
      select f.env, f.group_id, count(*) as n, min(i.ix)::int as ix, array_agg(f.version) as versions,
             max(coalesce(i.started, p_at)) as started
        from fresh f
        -- one row a run, even if it is handed over twice
        join (select i.env, i.run, max(i.started) as started, min(i.ix) as ix
                from unnest(p_env, p_run, p_started) with ordinality as i (env, run, started, ix)
               group by i.env, i.run) i on i.run = f.run and i.env = f.env
       group by f.env, f.group_id
    ), locked as (
      insert into error_groups as g (env, id, fingerprint, task, type, message, total, first_seen, last_seen)
      select t.env, t.group_id, p_fingerprint[t.ix], p_task[t.ix], p_type[t.ix], p_message[t.ix], t.n, v_at, v_at
        from touched t
       order by t.env, t.group_id
      on conflict (env, id) do update
        set total = g.total + excluded.total,
            first_seen = least(g.first_seen, excluded.first_seen),
            last_seen = greatest(g.last_seen, excluded.last_seen)
      returning g as row, g.xmax = 0 as is_new
    ), versions as (
      insert into error_versions as v (env, group_id, version, total, first_seen, last_seen)
      select f.env, f.group_id, f.version, count(*), v_at, v_at
        -- waits for the locks on the groups
        from fresh f, (select count(*) from locked) all_locked
       where f.version <> 0
       group by f.env, f.group_id, f.version
       order by f.env, f.group_id, f.version
      on conflict (env, group_id, version) do update
        set total = v.total + excluded.total,
            first_seen = least(v.first_seen, excluded.first_seen),
            last_seen = greatest(v.last_seen, excluded.last_seen)
    ), samples as (
      insert into error_samples (env, group_id, run, sample)
      select t.env, t.group_id, p_run[t.ix], p_sample[t.ix]
        from locked l join touched t on t.env = (l.row).env and t.group_id = (l.row).id
       where l.is_new and p_sample[t.ix] is not null
      on conflict do nothing
    )
    select l.row as g, t.started, t.versions
      from locked l join touched t on t.group_id = (l.row).id and t.env = (l.row).env
     where (l.row).status <> 'unresolved' or (l.row).total - (l.row).tallied_total >= 100 or (l.row).tallied_at >= v_at
  loop
    v_act := error_reopening(due.g, p_at, due.started, due.versions);
    if v_act is not null then perform reopen_error((due.g).env, (due.g).id, p_at, v_act); end if;
    if (due.g).tallied_at >= v_at then
      perform correct_error_tallies((due.g).env, (due.g).id, v_at, due.versions);
    elsif (due.g).total - (due.g).tallied_total >= 100 then
      insert into error_tallies (env, group_id, version, at, total)
      select (due.g).env, (due.g).id, 0, (due.g).last_seen, (due.g).total
      union all
      select v.env, v.group_id, v.version, (due.g).last_seen, v.total from error_versions v
       where v.env = (due.g).env and v.group_id = (due.g).id
         and v.last_seen >= coalesce((due.g).tallied_at, '-infinity')
      on conflict (env, group_id, version, at) do update set total = excluded.total;
      update error_groups set tallied_at = (due.g).last_seen, tallied_total = (due.g).total
       where env = (due.g).env and id = (due.g).id;
    end if;
  end loop;
end $$;

-- How many occurrences of a group came at or before a moment; of one version, or of all for version 0.
-- Reads the tally before that moment and the occurrences since: a bounded number, whatever the group's history.
create function errors_until(p_env int, p_group text, p_version int, p_at timestamptz) returns bigint
language plpgsql stable
as $$
declare
  v_at timestamptz := '-infinity';
  v_total bigint := 0;
begin
  select t.at, t.total into v_at, v_total from error_tallies t
   where t.env = p_env and t.group_id = p_group and t.version = 0 and t.at <= p_at
   order by t.at desc limit 1;
  v_at := coalesce(v_at, '-infinity');
  if p_version = 0 then
    return coalesce(v_total, 0) + (select count(*) from error_occurrences o
      where o.env = p_env and o.group_id = p_group and o.at > v_at and o.at <= p_at);
  end if;
  select t.total into v_total from error_tallies t
   where t.env = p_env and t.group_id = p_group and t.version = p_version and t.at <= v_at
   order by t.at desc limit 1;
  return coalesce(v_total, 0) + (select count(*) from error_occurrences o
    where o.env = p_env and o.group_id = p_group and o.at > v_at and o.at <= p_at and o.version = p_version);
end $$;
