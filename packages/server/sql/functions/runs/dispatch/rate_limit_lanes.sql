-- Removes lanes that have runs but no start left from the ring until their rate limit allows one, and drops lanes without runs. Schedules
-- the servers to wake at that time, unless they wake earlier anyway. The settings of the caller apply.
--
-- Locks: queue_starts by queue and key, lanes by id (no key update), idle lanes (skip locked). The caller holds the claim lock.
-- Callers: retire_lanes.
create or replace function rate_limit_lanes(p_lanes bigint[]) returns void
language plpgsql
as $$
declare
  v_now timestamptz := rate_now();
  v_lanes bigint[];
  v_idle bigint[];
  v_queue int[];
  v_key text[];
  v_next timestamptz[];
  v_due timestamptz;
begin
  with late as materialized (
    select i.id, q.id as queue_id, q.rate_burst, q.rate_window, case when q.rate_by_key then i.key else '' end as rate_key
      from unnest(p_lanes) as p (id)
      cross join lateral (
        select x.id, x.queue_id, x.key from lanes x
         where x.id = p.id and x.blocked::int = 0 and (select true from queued w where w.lane_id = x.id limit 1) limit 1) i
      cross join lateral (select x.* from queues x where x.id = i.queue_id and x.rate_burst is not null limit 1) q
  ), limits as materialized (
    select k.queue_id, k.rate_key, t.next
      from (select distinct l.queue_id, l.rate_key, l.rate_burst, l.rate_window from late l) k
      cross join lateral (
        select y.at, y.n from queue_starts y where y.queue_id = k.queue_id and y.key = k.rate_key limit 1) s
      cross join lateral (select rate_next(s.at, s.n, k.rate_burst, k.rate_window, v_now, 1) as next) t
  )
  select (select array_agg(l.id) from late l), array_agg(m.queue_id), array_agg(m.rate_key), array_agg(m.next), min(m.next)
    into v_lanes, v_queue, v_key, v_next, v_due
    from limits m;
  -- as in a claim, a few lanes remain
  v_idle := array(select unnest(p_lanes) except select unnest(v_lanes));
  if v_due is null then
    if cardinality(v_idle) > 8 then perform drop_idle_lanes(v_idle); end if;
    return;
  end if;
  if (select true from queue_starts y where y.due <= v_due limit 1) is null then
    perform pg_notify('millrace', json_build_object('wakes', json_build_array(json_build_object(
      'kind', 'promotion', 'inMs', ceil(extract(epoch from v_due - v_now) * 1000))))::text);
  end if;
  -- future times become now; otherwise, after the clock was set back, they would block lanes until the clock reaches its old time
  with locked as materialized (
    select y.ctid as tid, i.next
      from (select * from unnest(v_queue, v_key, v_next) as i (queue_id, key, next) order by 1, 2) i
      cross join lateral (
        select x.ctid, x.due from queue_starts x where x.queue_id = i.queue_id and x.key = i.key limit 1 for update) y
     where y.due is null or y.due <> i.next
  )
  update queue_starts s
     set due = h.next, at = array(select least(x.at, v_now) from unnest(s.at) with ordinality as x (at, i) order by x.i)
    from locked h where s.ctid = h.tid;
  perform from lanes l where l.id = any (v_lanes) order by l.id for no key update;
  update lanes l set blocked = true, rate_limited_at = v_now where l.id = any (v_lanes);
  if cardinality(v_idle) > 8 then perform drop_idle_lanes(v_idle); end if;
end $$;
