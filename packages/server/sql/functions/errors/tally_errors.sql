-- Counts the arrivals of an environment. This may create and reopen groups. Returns whether more arrivals may remain. The statements look
-- up rows by key only, because a plan made for empty tables would read the whole environment for each row.
--
-- Locks: the error lock of the environment; then no other transaction changes these tables.
-- Callers: errors/record/tally.ts.
create or replace function tally_errors(p_env int) returns boolean
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  c_max constant int := 5000;
  v_fingerprint int[];
  v_version int[];
  v_at timestamptz[];
  v_started timestamptz[];
  v_n bigint[];
  v_taken bigint;
  v_decided tid[];
  late record;
begin
  if not exists (select from error_arrivals a where a.env = p_env) then return false; end if;
  perform lock_errors(p_env);
  with gone as (
    delete from error_arrivals
     where ctid = any (array(select a.ctid from error_arrivals a where a.env = p_env limit c_max))
    returning fingerprint_id, version, at, started, n, spans
  ), noted as (
    insert into run_facets (env, facet, span)
    select distinct p_env, facet_of('error', g.fingerprint_id::text), s.span from gone g cross join lateral unnest(g.spans) as s (span) order by 1, 2, 3
    on conflict do nothing
  ), summed as (
    select fingerprint_id, version, at, max(started) as started, sum(n)::bigint as n, count(*) as arrivals from gone
     group by fingerprint_id, at, version order by fingerprint_id, at, version
  )
  select array_agg(fingerprint_id), array_agg(version), array_agg(at), array_agg(started), array_agg(n), sum(arrivals)
    into v_fingerprint, v_version, v_at, v_started, v_n, v_taken
    from summed;
  if v_taken is null then return false; end if;

  -- Occurrences older than the newest tally are inserted afterwards, and the tallies after them are increased accordingly.
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

  insert into error_hours as h (env, fingerprint_id, at, version, n)
  select p_env, i.fingerprint_id, date_bin('1 hour', i.at, 'epoch') as hour, i.version, sum(i.n)
    from unnest(v_fingerprint, v_version, v_at, v_n) as i (fingerprint_id, version, at, n)
   group by i.fingerprint_id, i.version, hour
  on conflict (env, at, fingerprint_id, version) do update set n = h.n + excluded.n;
  insert into error_days as d (env, fingerprint_id, at, version, n)
  select p_env, i.fingerprint_id, date_bin('1 day', i.at, 'epoch') as day, i.version, sum(i.n)
    from unnest(v_fingerprint, v_version, v_at, v_n) as i (fingerprint_id, version, at, n)
   group by i.fingerprint_id, i.version, day
  on conflict (env, at, fingerprint_id, version) do update set n = d.n + excluded.n;
  insert into error_weeks as w (env, fingerprint_id, at, n)
  select p_env, i.fingerprint_id, date_bin('7 days', i.at, '1970-01-05T00:00Z') as week, sum(i.n)
    from unnest(v_fingerprint, v_at, v_n) as i (fingerprint_id, at, n)
   group by i.fingerprint_id, week
  on conflict (env, at, fingerprint_id) do update set n = w.n + excluded.n;

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
    returning g.ctid as tid, g.id, g.number, g.status, g.task, g.type, g.message, g.xmax = 0 as begun
  ), announced as (
    insert into run_stat_arrivals (env, task, what, at, n)
    select p_env, g.task, 'new_errors', now(), count(*) from grown g where g.begun group by g.task
  ), texts as (
    insert into error_texts (env, group_id, number, type, message)
    select p_env, id, number, type, message from grown where begun
  )
  select array_agg(tid) into v_decided from grown where status <> 'unresolved';

  if v_decided is not null then
    perform reopen_error(p_env, i.group_id, r.at, r.act)
      from (
        select f.group_id, array_agg(i.at) as at, array_agg(i.started) as started, array_agg(i.version) as version
          from unnest(v_fingerprint, v_at, v_started, v_version) as i (fingerprint_id, at, started, version)
          join error_fingerprints f on f.id = i.fingerprint_id group by f.group_id) i
      join (select g as state, g.id from error_groups g where g.ctid = any (v_decided) offset 0) s on s.id = i.group_id
     cross join lateral error_reopening(s.state, i.at, i.started, i.version) r
     where r.act is not null;
  end if;
  return v_taken >= c_max;
end $$;
