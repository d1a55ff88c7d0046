-- Error groups. A failed run is an occurrence of one fingerprint of its task; a group has one fingerprint, or several after a merge.
--   error_arrivals      what failed and is not counted yet: appended in the transaction that ends the runs, nothing else is touched
--   error_fingerprints  every fingerprint that was met, and the group that it belongs to now
--   error_groups        who the group is, its state, its totals of all time
--   error_versions      in which worker versions a fingerprint occurred, with totals of all time
--   error_tallies       running totals: counts of any range without adding up rows
--   error_packs         the same of all fingerprints at once, by the hour: to put groups in order of their counts in a range
-- `tally_errors` moves arrivals into all the others, one call at a time in an environment. Whoever reads or changes groups
-- calls it first, and upkeep does twice a second, so that a group never waits for either.
-- Ids of runs and versions are plain values here: those tables have a life of their own.

-- Exact where there are many groups with the same total, rough where there are few.
create function error_total_slot(p_total bigint) returns int language sql immutable parallel safe
return case when p_total <= 64 then p_total::int else (16 * ln(p_total::float8) / ln(2::float8))::int end;

create table error_groups (
  env int not null,
  id text collate "C" not null check (id ~ '^error_[0-9a-f]{16}$'),
  -- the first one it had; its id is a hash of it
  fingerprint text not null,
  -- the fingerprint that it is named after
  number int not null,
  task text not null,
  type text not null,
  -- normalised
  message text not null,
  status text not null default 'unresolved' check (status in ('unresolved', 'resolved', 'ignored')),
  total bigint not null check (total >= 0),
  first_seen timestamptz not null,
  last_seen timestamptz not null,
  -- What the list's indexes are on: a group that fails all the time moves in them now and then, not at every tally.
  seen_slot timestamptz not null generated always as (date_bin('10 seconds', last_seen, 'epoch')) stored,
  total_slot int not null generated always as (error_total_slot(total)) stored,
  -- the group that it is part of: it has no fingerprints of its own then, and its id leads there
  merged_into text collate "C",
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
  primary key (env, id),
  check ((status = 'resolved') = (resolved_at is not null)),
  check ((status = 'ignored') = (ignored_at is not null)),
  check (status = 'resolved' or (resolved_in_version is null and resolved_by is null)),
  check (status = 'ignored' or (ignored_until is null and ignored_reason is null and ignored_by is null
         and ignored_until_rate is null and ignored_until_total is null and ignored_from_total is null)),
  check (merged_into is null or status = 'unresolved')
) with (fillfactor = 70);
create index error_groups_by_seen on error_groups (env, seen_slot desc) include (number) where merged_into is null;
create index error_groups_by_total on error_groups (env, total_slot desc, id) include (number) where merged_into is null;
create index error_groups_by_first on error_groups (env, first_seen desc, id) include (number) where merged_into is null;
create index error_groups_by_task on error_groups (env, task) include (number);
create index error_groups_settled on error_groups (env, status) include (number) where status <> 'unresolved';
create index error_groups_merged on error_groups (env, merged_into) where merged_into is not null;

create table error_fingerprints (
  id int generated always as identity primary key,
  env int not null,
  task text not null,
  fingerprint text not null,
  -- where its occurrences are counted now, and the group that begins with it
  group_id text collate "C" not null,
  own_group text collate "C" not null,
  total bigint not null default 0,
  -- null until it was first tallied
  first_seen timestamptz,
  last_seen timestamptz,
  unique (env, task, fingerprint)
) with (fillfactor = 70);
create index error_fingerprints_by_group on error_fingerprints (env, group_id);
create index error_fingerprints_elsewhere on error_fingerprints (env) where group_id <> own_group;

-- What a fingerprint looked like when it was first met.
create table error_samples (
  fingerprint_id int primary key references error_fingerprints on delete cascade,
  type text not null,
  message text not null,
  sample jsonb not null
);

-- `at` has whole milliseconds, as the wire has. `version` is 0 when the run was never bound to one. `started`: the latest start
-- among the runs. `spans`: of their ids, for `run_facets` (0007): written when they are tallied, so that the end of a run does not wait
-- for an index that many groups are all over.
create table error_arrivals (
  env int not null,
  fingerprint_id int not null,
  version int not null,
  at timestamptz not null,
  started timestamptz not null,
  n int not null,
  spans text[] not null default '{}'
);
create index error_arrivals_by_env on error_arrivals (env);

-- The fingerprint of a run that failed.
alter table runs add column error_fingerprint_id int;

create table error_versions (
  env int not null,
  fingerprint_id int not null,
  version int not null,
  total bigint not null,
  first_seen timestamptz not null,
  last_seen timestamptz not null,
  primary key (env, fingerprint_id, version)
) with (fillfactor = 70);

-- After what happened at `at`, in the order of `at` and `version`, the fingerprint had occurred `total` times, and `version_total`
-- times in this version. A row can be left out without making any other wrong: that is how old ones are thinned. `n` is how often it
-- occurred since the row before; it counts on when rows before are left out, so that the rows of an hour always add up.
create table error_tallies (
  env int not null,
  fingerprint_id int not null,
  at timestamptz not null,
  version int not null,
  n int not null,
  total bigint not null,
  version_total bigint not null,
  primary key (env, fingerprint_id, at, version) include (total)
);
create index error_tallies_by_version on error_tallies (env, fingerprint_id, version, at) include (version_total);
create index error_tallies_by_time on error_tallies (env, at);

-- Tallies before `until` have been thinned.
create table error_thinning (
  env int primary key,
  until timestamptz not null
);

-- How often each of `size` fingerprints occurred before `at`: in the hour before, or ever (`whole`). Hours are of one version; the whole is
-- of one, or of all of them (-1). How counts are written: errors/packed/counts.ts.
create table error_packs (
  env int not null,
  version int not null,
  whole boolean not null,
  at timestamptz not null,
  size int not null,
  counts bytea not null,
  primary key (env, whole, version, at)
);
create index error_packs_by_hour on error_packs (env, at) where not whole;
-- compressed already
alter table error_packs alter counts set storage external;

-- What happened before `until` is packed: where there is no pack, nothing happened.
create table error_packing (
  env int primary key,
  until timestamptz not null
);

-- Who changed a group, when, and what it was before. Without an actor the group changed by itself.
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

-- Every character of a text and every two that follow each other: what a search for less than a trigram looks for.
create function error_grams(p_type text, p_message text) returns text[] language sql immutable parallel safe as $$
  select array_agg(distinct g.gram)
    from (select lower(p_type) as text union all select lower(p_message)) w
    cross join lateral generate_series(1, length(w.text)) as i (at)
    cross join lateral (values (substr(w.text, i.at, 1)), (substr(w.text, i.at, 2))) as g (gram)
$$;

-- What a group says, once more, for searches: a group moves in its other indexes all the time, and would in these along with them.
create table error_texts (
  env int not null,
  group_id text collate "C" not null,
  number int not null,
  type text not null,
  message text not null,
  primary key (env, group_id)
);
create index error_texts_by_grams on error_texts using gin (error_grams(type, message));

-- Free text search: the extension ships with PostgreSQL. Where it may not be installed, a search reads the texts.
do $$
begin
  create extension if not exists pg_trgm;
  create index error_texts_by_type on error_texts using gin (type gin_trgm_ops);
  create index error_texts_by_message on error_texts using gin (message gin_trgm_ops);
exception when others then
  raise notice 'searches of error groups are not indexed: %', sqlerrm;
end $$;

alter table error_groups set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
alter table error_fingerprints set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
alter table error_versions set (autovacuum_vacuum_scale_factor = 0.05);
alter table error_arrivals set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
-- so that counts are read from the indexes alone
alter table error_tallies set (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

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

-- One at a time in an environment: whoever counts, and whoever changes a group. Those that record failures do not take part.
create function lock_errors(p_env int) returns void language sql as
$$ select pg_advisory_xact_lock(7144005, p_env) $$;

-- Makes fingerprints known. One that is new begins a group of its own (`p_group`), or, where the same error had another
-- fingerprint before the rules changed (`p_older`, newest first) and was seen with it lately, belongs to that one's group.
create function introduce_errors(
  p_at timestamptz, p_env int[], p_task text[], p_fingerprint text[], p_group text[], p_type text[], p_message text[],
  p_sample jsonb[], p_older jsonb[]
) returns table (ix int, id int)
language plpgsql as $$
#variable_conflict use_column
begin
  -- the group of an older one must not be merged away meanwhile
  if p_older is not null then
    perform lock_errors(e.env) from (select distinct x as env from unnest(p_env) as x order by 1) e;
  end if;
  with input as (
    select i.* from unnest(p_env, p_task, p_fingerprint, p_group, p_type, p_message, p_sample, p_older)
      with ordinality as i (env, task, fingerprint, group_id, type, message, sample, older, ix)
  ), added as (
    insert into error_fingerprints as f (env, task, fingerprint, own_group, group_id)
    select distinct on (i.env, i.task, i.fingerprint) i.env, i.task, i.fingerprint, i.group_id, coalesce((
             select o.group_id from jsonb_array_elements_text(i.older) with ordinality as a (fingerprint, place)
               join error_fingerprints o on o.env = i.env and o.task = i.task and o.fingerprint = a.fingerprint
              where coalesce(o.last_seen, p_at) > p_at - interval '90 days'
              order by a.place limit 1), i.group_id)
      from input i order by i.env, i.task, i.fingerprint
    on conflict do nothing
    returning f.*
  )
  insert into error_samples (fingerprint_id, type, message, sample)
  select distinct on (a.id) a.id, i.type, i.message, i.sample
    from added a join input i on i.env = a.env and i.task = a.task and i.fingerprint = a.fingerprint
   order by a.id, i.ix;
  return query
    select i.ix::int, f.id from unnest(p_env, p_task, p_fingerprint) with ordinality as i (env, task, fingerprint, ix)
      join error_fingerprints f on f.env = i.env and f.task = i.task and f.fingerprint = i.fingerprint;
end $$;

-- Records runs that have just ended, where that was not through settle_runs.
create function record_errors(p_at timestamptz, p_env int[], p_run text[], p_fingerprint int[]) returns void
language plpgsql as $$
begin
  with written as (
    update runs r set error_fingerprint_id = i.fingerprint_id
      from unnest(p_env, p_run, p_fingerprint) as i (env, run_id, fingerprint_id)
     where r.env = i.env and r.id = i.run_id
    returning r.env, r.id, r.error_fingerprint_id as fingerprint_id, coalesce(r.version_id, 0) as version, r.started_at
  )
  insert into error_arrivals (env, fingerprint_id, version, at, started, n, spans)
  select env, fingerprint_id, version, date_trunc('milliseconds', p_at), coalesce(max(started_at), p_at), count(*),
         array_agg(distinct left(id, 10))
    from written group by env, fingerprint_id, version;
  if exists (select from notification_endpoints) then perform notify_failed_runs(p_env, p_run); end if;
end $$;

-- Whether a version that this environment does not have is still to be registered: nothing can be of it or later yet. One that is not
-- written as versions are, or lies before those that are there, will never be.
create function is_version_to_come(p_env int, p_version text) returns boolean language sql stable as $$
  select case when p_version ~ '^[0-9]{8}\.[0-9]{1,9}$'
              then coalesce(string_to_array(p_version, '.')::int[] > (
                     select string_to_array(v.version, '.')::int[] from versions v
                      where v.env = p_env and v.version ~ '^[0-9]{8}\.[0-9]{1,9}$' order by v.sequence desc limit 1), true)
              else false end
$$;

-- Whether what just happened ends the rest of a group that was resolved or ignored: why, and when. Nulls if not.
-- The arrays are what arrived for the group, already tallied.
create function error_reopening(
  g error_groups, p_at timestamptz[], p_started timestamptz[], p_version int[], out act text, out at timestamptz
) language plpgsql stable as $$
declare
  v_since interval;
  v_fix int;
begin
  if g.status = 'resolved' then
    act := 'regressed';
    select v.sequence into v_fix from versions v where v.env = g.env and v.version = g.resolved_in_version;
    if v_fix is not null then
      select min(i.at) into at
        from unnest(p_at, p_version) as i (at, version) join versions run on run.id = i.version
       where run.env = g.env and run.sequence >= v_fix;
    elsif g.resolved_in_version is null or not is_version_to_come(g.env, g.resolved_in_version) then
      -- a run that started before the fix says nothing about it
      select min(i.at) into at from unnest(p_at, p_started) as i (at, started)
       where i.at > g.resolved_at and i.started > g.resolved_at;
    end if;
  elsif g.status = 'ignored' then
    act := 'ignoreEnded';
    select min(i) into at from unnest(p_at) as i where i >= g.ignored_until;
    if at is null and g.total - g.ignored_from_total >= g.ignored_until_total then
      select max(i) into at from unnest(p_at) as i;
    end if;
    if at is null and g.ignored_until_rate is not null then
      -- A minute that slides; a rate below one a minute needs as many minutes as it takes to expect one.
      v_since := make_interval(mins => least(greatest(1, ceil(1 / g.ignored_until_rate)), 43200)::int);
      select min(i.at) into at from (select distinct i from unnest(p_at) as i) i (at)
       where (select sum(errors_until(f.env, f.id, i.at)
                         - errors_until(f.env, f.id, greatest(i.at - v_since, g.ignored_at - interval '1 millisecond')))
                from error_fingerprints f where f.env = g.env and f.group_id = g.id)
             > g.ignored_until_rate * extract(epoch from v_since) / 60;
    end if;
  end if;
  if at is null then act := null; end if;
end $$;

-- How often a fingerprint had occurred at a moment.
create function errors_until(p_env int, p_fingerprint int, p_at timestamptz) returns bigint language sql stable as $$
  select coalesce((select t.total from error_tallies t
                    where t.env = p_env and t.fingerprint_id = p_fingerprint and t.at <= p_at
                    order by t.at desc, t.version desc limit 1), 0)
$$;

-- Counts what arrived in an environment, and lets groups begin and reopen by it. Returns whether there may be more.
-- Written so that rows can only be reached by their keys: a plan that was made for empty tables would read all of an environment
-- for each of them.
create function tally_errors(p_env int) returns boolean
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  c_most constant int := 5000;
  v_fingerprint int[];
  v_version int[];
  v_at timestamptz[];
  v_started timestamptz[];
  v_n bigint[];
  v_taken bigint;
  v_settled tid[];
  v_earliest timestamptz;
  late record;
begin
  if not exists (select from error_arrivals a where a.env = p_env) then return false; end if;
  perform lock_errors(p_env);
  with gone as (
    delete from error_arrivals
     where ctid = any (array(select a.ctid from error_arrivals a where a.env = p_env limit c_most))
    returning fingerprint_id, version, at, started, n, spans
  ), noted as (
    insert into run_facets (env, facet, span)
    select distinct p_env, 'x:' || g.fingerprint_id, s.span from gone g cross join lateral unnest(g.spans) as s (span) order by 1, 2, 3
    on conflict do nothing
  ), summed as (
    select fingerprint_id, version, at, max(started) as started, sum(n)::bigint as n, count(*) as arrivals from gone
     group by fingerprint_id, at, version order by fingerprint_id, at, version
  )
  select array_agg(fingerprint_id), array_agg(version), array_agg(at), array_agg(started), array_agg(n), sum(arrivals)
    into v_fingerprint, v_version, v_at, v_started, v_n, v_taken
    from summed;
  if v_taken is null then return false; end if;

  -- Hours that were packed before this came are to be packed again.
  select min(i) into v_earliest from unnest(v_at) as i;
  update error_packing set until = date_bin('1 hour', v_earliest, 'epoch') where env = p_env and until > v_earliest;
  if found then delete from error_packs where env = p_env and at > date_bin('1 hour', v_earliest, 'epoch'); end if;

  -- What is older than the newest tally is put in its place afterwards: the tallies behind it grow by it.
  insert into error_tallies (env, fingerprint_id, at, version, n, total, version_total)
  select p_env, f.id, i.at, i.version, i.n,
         f.total + sum(i.n) over (partition by f.id order by i.at, i.version),
         coalesce(v.total, 0) + sum(i.n) over (partition by f.id, i.version order by i.at)
    from unnest(v_fingerprint, v_version, v_at, v_n) as i (fingerprint_id, version, at, n)
    join error_fingerprints f on f.id = i.fingerprint_id
    left join lateral (
      select x.total from error_versions x
       where x.env = p_env and x.fingerprint_id = f.id and x.version = i.version limit 1) v on true
   where f.last_seen is null or i.at > f.last_seen;
  for late in
    select f.id, i.version, i.at, i.n from unnest(v_fingerprint, v_version, v_at, v_n) as i (fingerprint_id, version, at, n)
      join error_fingerprints f on f.id = i.fingerprint_id where i.at <= f.last_seen
  loop
    update error_tallies t
       set n = t.n + case when t.at = late.at and t.version = late.version then late.n else 0 end,
           total = t.total + late.n, version_total = t.version_total + case when t.version = late.version then late.n else 0 end
     where t.env = p_env and t.fingerprint_id = late.id and t.at >= late.at and (t.at, t.version) >= (late.at, late.version);
    insert into error_tallies (env, fingerprint_id, at, version, n, total, version_total)
    select p_env, late.id, late.at, late.version, late.n, late.n + coalesce((
             select t.total from error_tallies t
              where t.env = p_env and t.fingerprint_id = late.id and t.at <= late.at
                and (t.at, t.version) < (late.at, late.version) order by t.at desc, t.version desc limit 1), 0),
           late.n + coalesce((
             select t.version_total from error_tallies t
              where t.env = p_env and t.fingerprint_id = late.id and t.version = late.version and t.at < late.at
              order by t.at desc limit 1), 0)
    on conflict do nothing;
  end loop;

  insert into error_versions as v (env, fingerprint_id, version, total, first_seen, last_seen)
  select p_env, i.fingerprint_id, i.version, sum(i.n), min(i.at), max(i.at)
    from unnest(v_fingerprint, v_version, v_at, v_n) as i (fingerprint_id, version, at, n)
   where i.version <> 0 group by i.fingerprint_id, i.version
  on conflict (env, fingerprint_id, version) do update
    set total = v.total + excluded.total,
        first_seen = least(v.first_seen, excluded.first_seen),
        last_seen = greatest(v.last_seen, excluded.last_seen);

  with sums as materialized (
    select i.fingerprint_id as id, sum(i.n) as n, min(i.at) as first, max(i.at) as last
      from unnest(v_fingerprint, v_at, v_n) as i (fingerprint_id, at, n) group by i.fingerprint_id
  ), counted as (
    update error_fingerprints f
       set total = f.total + s.n, first_seen = least(f.first_seen, s.first), last_seen = greatest(f.last_seen, s.last)
      from sums s where f.id = s.id
    returning f.id, f.group_id, s.n, s.first, s.last
  ), touched as (
    select group_id, sum(n) as n, min(first) as first, max(last) as last, min(id) as fingerprint_id from counted group by group_id
  ), grown as (
    insert into error_groups as g (env, id, fingerprint, number, task, type, message, total, first_seen, last_seen)
    select p_env, t.group_id, f.fingerprint,
           case when f.own_group = t.group_id then f.id
                else (select o.id from error_fingerprints o
                       where o.env = p_env and o.group_id = t.group_id and o.own_group = t.group_id limit 1) end,
           f.task, s.type, s.message, t.n, t.first, t.last
      from touched t
      join error_fingerprints f on f.id = t.fingerprint_id
      join error_samples s on s.fingerprint_id = t.fingerprint_id
    on conflict (env, id) do update
      set total = g.total + excluded.total,
          first_seen = least(g.first_seen, excluded.first_seen),
          last_seen = greatest(g.last_seen, excluded.last_seen)
    returning g.ctid as place, g.id, g.number, g.status, g.type, g.message, g.xmax = 0 as begun
  ), texts as (
    insert into error_texts (env, group_id, number, type, message)
    select p_env, id, number, type, message from grown where begun
  )
  select array_agg(place) into v_settled from grown where status <> 'unresolved';

  if v_settled is not null then
    perform reopen_error(p_env, i.group_id, r.at, r.act)
      from (
        select f.group_id, array_agg(i.at) as at, array_agg(i.started) as started, array_agg(i.version) as version
          from unnest(v_fingerprint, v_at, v_started, v_version) as i (fingerprint_id, at, started, version)
          join error_fingerprints f on f.id = i.fingerprint_id group by f.group_id) i
      join (select g as state, g.id from error_groups g where g.ctid = any (v_settled) offset 0) s on s.id = i.group_id
     cross join lateral error_reopening(s.state, i.at, i.started, i.version) r
     where r.act is not null;
  end if;
  return v_taken >= c_most;
end $$;
