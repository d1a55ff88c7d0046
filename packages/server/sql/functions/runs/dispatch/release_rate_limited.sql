-- Returns lanes that were blocked by a rate limit to the ring when they are due. These are all lanes of a concurrency key, or as many lanes
-- of a whole queue as may start runs now, longest blocked first.
--
-- Locks: claim locks in the order of the environments, queue_starts, lanes.
-- Callers: runs/dispatch/promoter.ts.
create or replace function release_rate_limited(p_limit int) returns table (env int)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  v_envs int[];
  v_env int;
  v_now timestamptz;
begin
  select array_agg(distinct d.env order by d.env) into v_envs
    from (select s.env from queue_starts s where s.due <= (select rate_now()) order by s.due limit p_limit) d;
  if v_envs is null then return; end if;
  foreach v_env in array v_envs loop
    perform claim_lock(v_env);
    v_now := rate_now();
    with locked as materialized (
      select s.ctid as tid, s.queue_id, s.key, s.at, s.n from queue_starts s
       where s.due <= v_now and s.env = v_env order by s.due limit p_limit
    ), due as materialized (
      select h.tid, h.queue_id, h.key, q.rate_by_key, q.rate_window, r.room, coalesce(r.first, v_now) + q.rate_window as next
        from locked h
        cross join lateral (select x.rate_burst, x.rate_window, x.rate_by_key from queues x where x.id = h.queue_id limit 1) q
        cross join lateral (
          select greatest(0, q.rate_burst - coalesce(sum(x.n), 0))::int as room, min(least(x.at, v_now)) as first
            from unnest(h.at, h.n) as x (at, n) where x.at > v_now - q.rate_window) r
    ), line as materialized (
      -- empty lanes are removed as well and do not count
      select d.tid, f.id, f.has_runs, count(*) filter (where f.has_runs) over (partition by d.tid order by f.rate_limited_at, f.id) as nth, d.room
        from due d
        cross join lateral (
          select x.id, x.rate_limited_at, (select true from queued w where w.lane_id = x.id limit 1) is not null as has_runs
            from lanes x
           where not d.rate_by_key and x.queue_id + 0 = d.queue_id and x.rate_limited_at is not null
           order by x.rate_limited_at limit case when d.room > 0 then d.room + 100 else 0 end) f
    ), free as materialized (
      select l.tid, l.id, l.has_runs from line l where l.nth <= l.room
      union all
      select d.tid, f.id, true
        from due d
        cross join lateral (
          select x.id from lanes x
           where d.rate_by_key and x.queue_id = d.queue_id and x.key = d.key collate "default" and num_nonnulls(x.rate_limited_at) = 1 offset 0) f
    ), freed as (
      update lanes l set blocked = false, rate_limited_at = null where l.id = any (array(select f.id from free f))
    ), left_over as materialized (
      select d.tid,
             case when d.rate_by_key then null
                  when d.room = 0 then d.next
                  -- no other lane waits
                  when (select true from lanes x where x.queue_id + 0 = d.queue_id and x.rate_limited_at is not null
                         order by x.rate_limited_at offset (select count(*) from free f where f.tid = d.tid) limit 1) is null then null
                  -- so many lanes are empty that more may be removed
                  when (select count(*) from free f where f.tid = d.tid and f.has_runs) < d.room then v_now
                  else d.next end as due
        from due d
    )
    update queue_starts s set due = o.due from left_over o where s.ctid = o.tid;
    env := v_env;
    return next;
  end loop;
end $$;
