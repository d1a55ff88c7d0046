-- Binds waiting runs of one version to another version. It moves runs of one kind, `p_wait` (`queued`, `delayed`, `retrying`,
-- `pending_version`, or `waiting`: suspended, with no runner holding its code), and of the given tasks (null: any), if the new version has
-- the task. It reads up to `p_limit` rows after the given one (lane, sort key and run; only queued runs have the first two). It returns the
-- last row that it read, with a null `run` at the end.
-- A row locked by another transaction is skipped and counted: its run is being claimed, promoted, woken or ended.
--
-- Locks: rows of queued, delayed, pending_version or suspended (skip locked); runs by id; run_facets; lanes (key share); empty lanes of the
--        old version, which it deletes (skip locked).
-- Callers: versions/deployments/move.ts.
create or replace function move_runs(
  p_env int, p_from int, p_to int, p_wait text, p_tasks text[], p_lane bigint, p_sort_key bigint, p_run text, p_at timestamptz, p_limit int
) returns table (moved text[], skipped int, lane bigint, sort_key bigint, run text)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  v_lane bigint;
  v_lanes bigint[];
  v_sort_key bigint[];
  v_seen text[];
  v_run text[];
  v_expires timestamptz[];
  v_found int;
  v_tried bigint[] := '{}';
begin
  -- the next rows, of any version and task
  if p_wait = 'queued' then
    for v_lane in
      select n.id from (
        select l.id from lanes l where l.env = p_env and l.pinned_version + 0 = p_from and not l.blocked
        union all
        select l.id from lanes l where l.env = p_env and l.blocked and l.pinned_version = p_from
      ) n where n.id >= p_lane order by n.id limit p_limit
    loop
      v_tried := v_tried || v_lane;
      select v_lanes || coalesce(array_agg(v_lane), '{}'), v_sort_key || coalesce(array_agg(x.sort_key), '{}'),
             v_seen || coalesce(array_agg(x.run_id), '{}')
        into v_lanes, v_sort_key, v_seen
        from (select w.sort_key, w.run_id from queued w
               where w.lane_id = v_lane and (v_lane > p_lane or (w.sort_key, w.run_id) > (p_sort_key, p_run))
               order by w.sort_key, w.run_id limit p_limit - coalesce(cardinality(v_seen), 0)) x;
      exit when cardinality(v_seen) >= p_limit;
    end loop;
  elsif p_wait = 'pending_version' then
    select array_agg(x.run_id) into v_seen
      from (select p.run_id from pending_version p where p.env + 0 = p_env and p.run_id || '' > p_run
             order by p.run_id || '' limit p_limit) x;
  elsif p_wait = 'waiting' then
    select array_agg(x.run_id) into v_seen
      from (select s.run_id from suspended s where s.env = p_env and s.run_id > p_run order by s.run_id limit p_limit) x;
  elsif p_wait = 'retrying' then
    select array_agg(x.run_id) into v_seen
      from (select d.run_id from delayed d where d.env = p_env and d.run_id > p_run and d.retry order by d.run_id limit p_limit) x;
  else
    select array_agg(x.run_id) into v_seen
      from (select d.run_id from delayed d where d.env = p_env and d.run_id > p_run and not d.retry order by d.run_id limit p_limit) x;
  end if;
  v_found := coalesce(cardinality(v_seen), 0);
  run := case when v_found > 0 then v_seen[v_found] end;
  lane := case when v_found > 0 then v_lanes[v_found] end;
  sort_key := case when v_found > 0 then v_sort_key[v_found] end;
  -- All lanes of this call were empty, so the next call continues after them.
  if run is null and cardinality(v_tried) >= p_limit then
    run := '';
    lane := v_tried[p_limit] + 1;
    sort_key := (-9223372036854775808)::bigint;
  end if;

  -- of those, the runs bound to the version
  select array_agg(i.run_id order by i.n), array_agg(v_lanes[i.n] order by i.n), array_agg(v_sort_key[i.n] order by i.n)
    into v_run, v_lanes, v_sort_key
    from unnest(v_seen) with ordinality as i (run_id, n)
    cross join lateral (
      select from runs r
       where r.env = p_env and r.id = i.run_id and r.version_id = p_from and (p_tasks is null or r.task = any (p_tasks))
         and (select true from tasks t where t.version_id = p_to and t.id = r.task limit 1)
         and (p_wait <> 'waiting' or (
           select num_nulls(s.runner_id) = 1 from suspended s where s.env = p_env and s.run_id = i.run_id limit 1)) limit 1) r;
  v_found := coalesce(cardinality(v_run), 0);
  if v_found = 0 then
    moved := '{}';
    skipped := 0;
    return next;
    return;
  end if;

  if p_wait = 'queued' then
    with locked as materialized (
      select w.tid from unnest(v_lanes, v_sort_key, v_run) as i (lane_id, sort_key, run_id)
       cross join lateral (
         select x.ctid as tid from queued x
          where x.lane_id = i.lane_id and x.sort_key = i.sort_key and x.run_id = i.run_id limit 1 for update skip locked) w
    ), gone as (
      delete from queued w where w.ctid = any (array(select h.tid from locked h)) returning w.run_id, w.expires_at
    )
    select array_agg(g.run_id), array_agg(g.expires_at) into v_run, v_expires from gone g;
  elsif p_wait = 'pending_version' then
    with locked as materialized (
      select p.tid from unnest(v_run) as i (run_id)
       cross join lateral (select x.task from runs x where x.env = p_env and x.id = i.run_id limit 1) r
       cross join lateral (
         select x.ctid as tid from pending_version x
          where x.env = p_env and x.task = r.task and x.run_id = i.run_id limit 1 for update skip locked) p
    ), gone as (
      delete from pending_version p where p.ctid = any (array(select h.tid from locked h)) returning p.run_id, p.expires_at
    )
    select array_agg(g.run_id), array_agg(g.expires_at) into v_run, v_expires from gone g;
  elsif p_wait = 'waiting' then
    with locked as materialized (
      select s.tid from unnest(v_run) as i (run_id)
       cross join lateral (
         select x.ctid as tid from suspended x
          where x.env = p_env and x.run_id = i.run_id and num_nulls(x.runner_id) = 1 limit 1 for update skip locked) s
    ), changed as (
      update suspended s set version_id = p_to where s.ctid = any (array(select h.tid from locked h)) returning s.run_id
    )
    select array_agg(c.run_id) into v_run from changed c;
  else
    with locked as materialized (
      select i.run_id from unnest(v_run) as i (run_id)
       cross join lateral (
         select from delayed x where x.env = p_env and x.run_id = i.run_id limit 1 for update skip locked) d
    )
    select array_agg(h.run_id) into v_run from locked h;
  end if;
  moved := coalesce(v_run, '{}');
  skipped := v_found - cardinality(moved);

  if v_run is not null then
    perform from runs r where r.env = p_env and r.id = any (v_run) order by r.id for update;
    update runs r set version_id = p_to, updated_at = p_at where r.env = p_env and r.id = any (v_run);
    perform record_facets(array_agg(p_env), array_agg(facet_of('version', p_to::text)), array_agg(g.id)) from unnest(v_run) as g (id);
    if p_wait in ('queued', 'pending_version') then
      perform enqueue_runs(array(
        select row (r.env, r.queue_id, r.concurrency_key, p_to, r.sort_key, r.id, g.expires_at)::waiting_run
          from unnest(v_run, v_expires) as g (run_id, expires_at)
          cross join lateral (select x.* from runs x where x.env = p_env and x.id = g.run_id limit 1) r));
    end if;
  end if;
  if p_wait = 'queued' then perform drop_idle_lanes(v_tried); end if;
  return next;
end $$;
