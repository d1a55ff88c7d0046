-- Takes lanes that have runs but no start left out of the ring, until their limit of rate allows one. Wakes the servers for that time, unless
-- they wake earlier anyway.
--
-- Locks: queue_starts by queue and key, lanes by id (no key update). The caller holds the claim lock.
-- Callers: claim_runs.
create or replace function hold_lanes(p_lanes bigint[]) returns void
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_now timestamptz := rate_now();
  v_lanes bigint[];
  v_queue int[];
  v_key text[];
  v_next timestamptz[];
  v_due timestamptz;
begin
  select array_agg(l.id), array_agg(l.queue_id), array_agg(l.rate_key), array_agg(t.next), min(t.next)
    into v_lanes, v_queue, v_key, v_next, v_due
    from unnest(p_lanes) as p (id)
    cross join lateral (
      select x.id, x.queue_id, x.key from lanes x
       where x.id = p.id and x.blocked::int = 0 and (select true from queued w where w.lane_id = x.id limit 1) limit 1) i
    cross join lateral (
      select i.id, i.queue_id, q.rate_burst, q.rate_window, case when q.rate_by_key then i.key else '' end as rate_key
        from queues q where q.id = i.queue_id and q.rate_burst is not null limit 1) l
    cross join lateral (
      select y.at, y.n from queue_starts y where y.queue_id = l.queue_id and y.key = l.rate_key limit 1) s
    cross join lateral (select rate_next(s.at, s.n, l.rate_burst, l.rate_window, v_now, 1) as next) t
   where t.next > v_now;
  if v_lanes is null then return; end if;
  if (select true from queue_starts y where y.due <= v_due limit 1) is null then
    perform pg_notify('millrace', json_build_object('wakes', json_build_array(json_build_object(
      'kind', 'held', 'inMs', ceil(extract(epoch from v_due - v_now) * 1000))))::text);
  end if;
  -- times in the future become now: after the clock was set back they would hold for as long as it was
  with held as materialized (
    select y.ctid as tid, i.next
      from (select distinct * from unnest(v_queue, v_key, v_next) as i (queue_id, key, next) order by 1, 2) i
      cross join lateral (
        select x.ctid, x.due from queue_starts x where x.queue_id = i.queue_id and x.key = i.key limit 1 for update) y
     where y.due is null or y.due <> i.next
  )
  update queue_starts s
     set due = h.next, at = array(select least(x.at, v_now) from unnest(s.at) with ordinality as x (at, i) order by x.i)
    from held h where s.ctid = h.tid;
  perform from lanes l where l.id = any (v_lanes) order by l.id for no key update;
  update lanes l set blocked = true, held_at = v_now where l.id = any (v_lanes);
end $$;
