-- Defers lanes of a page (`deferred`) if several lanes of one concurrency key share two limits. One is a rate limit of the whole queue, for
-- which the page combines all of the queue's lanes; the other is the concurrency limit of their key. One lane of each such key provides
-- runs. The settings of the caller apply.
--
-- Locks: none.
-- Callers: allot_starts.
create or replace function one_lane_a_key(p_page ring_lane[], out page ring_lane[], out deferred boolean)
language plpgsql
as $$
begin
  with lanes as materialized (
    select p.*,
           q.shares_two and p.room > 0 and row_number() over (
             partition by i.queue_id, i.key
             -- prefer a lane of a pinned version, because all of its runs may start
             order by case when q.shares_two then (select true from queued w where w.lane_id = p.lane_id limit 1) end nulls last,
                      p.pinned_version desc, p.lane_id) > 1 as is_second
      from unnest(p_page) with ordinality
             as p (lane_id, pinned_version, turn, room, queue_key, cap, weight, shared_limit, nth)
      cross join lateral (select x.queue_id, x.key from lanes x where x.id = p.lane_id limit 1) i
      cross join lateral (
        select x.rate_burst is not null and not x.rate_by_key and coalesce(x.concurrency_override, x.concurrency_limit) is not null as shares_two
          from queues x where x.id = i.queue_id limit 1) q
  )
  select array_agg(row (l.lane_id, l.pinned_version, l.turn, l.room, l.queue_key, l.cap, l.weight, l.shared_limit)::ring_lane order by l.nth)
           filter (where not l.is_second),
         bool_or(l.is_second)
    into page, deferred
    from lanes l;
end $$;
