-- Applies limits of rate to a page of lanes. Those without a start left are taken out of it (`late`). The others have as many runs to give
-- (`room`) as their limits of concurrency and rate allow, and as many together (`cap`) as are left of their limit of rate: lanes that share one
-- get one `queue_key`. Where that is the whole queue's, of several lanes of one concurrency key only one gives: they share a limit of
-- concurrency as well. The others are left out (`deferred`).
-- A start in the future (the clock was set back) counts. Its settings are those of its caller.
--
-- Locks: none.
-- Callers: claim_runs.
create or replace function rate_rooms(p_now timestamptz, p_page ring_lane[], out page ring_lane[], out late bigint[], out deferred boolean)
language plpgsql
as $$
begin
  with page as materialized (
    select p.*, l.rate_burst, l.rate_by_key,
           case when l.rate_burst is null then p.cap
                else greatest(0, l.rate_burst - coalesce((
                  select case when s.at[cardinality(s.at)] <= p_now - l.rate_window then 0
                              when s.at[1] > p_now - l.rate_window then s.total
                              else (select sum(x.n) from unnest(s.at, s.n) as x (at, n) where x.at > p_now - l.rate_window)::int end
                    from queue_starts s
                   where s.queue_id = l.queue_id and s.key = case when l.rate_by_key then l.key else '' end limit 1), 0)) end as starts,
           l.queue_id, l.is_limited
      from unnest(p_page) with ordinality
             as p (lane_id, pinned_version, turn, room, queue_key, cap, weight, shared_limit, nth)
      cross join lateral (select x.queue_id, x.key from lanes x where x.id = p.lane_id limit 1) i
      cross join lateral (
        select q.id as queue_id, i.key, q.rate_burst, q.rate_window, q.rate_by_key,
               coalesce(q.concurrency_override, q.concurrency_limit) is not null as is_limited
          from queues q where q.id = i.queue_id limit 1) l
  ), shared as materialized (
    select p.*, p.rate_burst is not null and not p.rate_by_key as of_queue,
           -- a lane of a pinned version first: all of its runs may start
           p.rate_burst is not null and not p.rate_by_key and p.is_limited and p.starts > 0 and p.room > 0
             and row_number() over (
               partition by p.queue_key
               order by case when p.is_limited and not p.rate_by_key then (select true from queued w where w.lane_id = p.lane_id limit 1) end nulls last,
                        p.pinned_version desc, p.lane_id) > 1 as is_second
      from page p
  )
  select array_agg(row (s.lane_id, s.pinned_version, s.turn, least(s.room, s.starts),
                        case when s.of_queue then hashint4extended(s.queue_id, 1) else s.queue_key end,
                        case when s.of_queue then s.starts else least(s.room, s.starts) end, s.weight, s.shared_limit)::ring_lane order by s.nth)
           filter (where not s.is_second and (s.rate_burst is null or s.starts > 0)),
         coalesce(array_agg(s.lane_id) filter (where s.rate_burst is not null and s.starts = 0), '{}'), bool_or(s.is_second)
    into page, late, deferred
    from shared s;
end $$;
