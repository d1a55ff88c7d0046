-- Applies shared limits to a page of lanes. The lanes of one limit get one `queue_key`, and together as many runs (`cap`) as the limit
-- allows. Lanes of an exhausted limit are removed. If lanes must share another limit as well (the limit of their queue and key, or a rate
-- limit), one of them provides runs and the others are deferred (`deferred`).
--
-- Locks: none. The caller holds the claim lock.
-- Callers: allot_starts.
create or replace function shared_rooms(p_page ring_lane[], p_keep_reserved boolean, out page ring_lane[], out deferred boolean)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
begin
  with rooms as materialized (
    select i.id, shared_room(i.id, p_keep_reserved) as room from (select distinct x.shared_limit as id from unnest(p_page) as x where x.shared_limit <> 0) i
  ), lanes as materialized (
    select p.*, r.room as shared_room,
           p.shared_limit <> 0 and p.room > 0 and r.room > 0 and row_number() over (
             partition by p.queue_key
             -- prefer a lane of a pinned version, because all of its runs may start
             order by (select true from queued w where w.lane_id = p.lane_id limit 1) nulls last, p.pinned_version desc, p.lane_id) > 1 as is_second
      from unnest(p_page) with ordinality
             as p (lane_id, pinned_version, turn, room, queue_key, cap, weight, shared_limit, nth)
      left join rooms r on r.id = p.shared_limit
  )
  select array_agg(row (l.lane_id, l.pinned_version, l.turn, least(l.room, l.cap, l.shared_room),
                        case when l.shared_limit = 0 then l.queue_key else hashint4extended(l.shared_limit, 2) end,
                        coalesce(l.shared_room, l.cap), l.weight, l.shared_limit)::ring_lane order by l.nth)
           filter (where l.shared_limit = 0 or l.shared_room > 0 and not l.is_second),
         bool_or(l.is_second)
    into page, deferred
    from lanes l;
end $$;
