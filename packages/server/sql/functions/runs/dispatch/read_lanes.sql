-- The first part of a claim: reads the next lanes of the rings after a position, and how many runs each may provide under the limits of its
-- queue and key. After the last lane, the same page continues with the first, so that the claim divides its runs among all of them.
-- Invariant: the pages of one revolution contain each lane that is ready and existed when the revolution began exactly once.
--
-- Locks: none. The caller holds the claim lock.
-- Callers: claim_runs.
create or replace function read_lanes(p_scope claim_scope, p_position ring_position, p_size int, p_want int) returns lane_page
language plpgsql
as $$
declare
  c_newest constant bigint := 9223372036854775807;
  v_page lane_page := row ('{}', p_position.credit, p_position, false, false, '{}', '{}', false, false, false, false)::lane_page;
  v_start int := p_position.start;
  v_turn int := p_position.turn;
  v_newest bigint := coalesce(p_position.newest, c_newest);
  v_wrapped boolean := p_position.wrapped;
  v_lanes ring_lane[];
  v_rate_limited bigint[];
  v_misplaced bigint[];
  v_found int;
begin
  loop
    -- A rate-limited lane can provide as many runs as may start now (`starts`). If the limit is for the whole queue, that number applies to
    -- all its lanes together.
    select array_agg(row (p.id, p.pinned_version, p.turn, least(p.room, p.starts),
                          case when p.of_queue then hashint4extended(p.queue_id, 1) else p.queue_key end,
                          case when p.of_queue then p.starts else least(p.room, p.starts) end, p.weight, p.shared_limit)::ring_lane)
             filter (where p.starts is null or p.starts > 0),
           array_agg(p.id) filter (where p.starts = 0), array_agg(p.id) filter (where p.shared_limit <> p.ring), count(*), max(p.turn),
           coalesce(bool_or(p.starts is not null), false) or v_page.has_rate_limit,
           coalesce(bool_or(p.of_queue and p.is_limited), false) or v_page.has_queue_rate_and_concurrency,
           coalesce(bool_or(p.shared_limit <> 0), false) or v_page.has_shared_limit,
           coalesce(bool_or(p.weight <> 1), false) or v_page.has_weights
      into v_lanes, v_rate_limited, v_misplaced, v_found, v_turn,
           v_page.has_rate_limit, v_page.has_queue_rate_and_concurrency, v_page.has_shared_limit, v_page.has_weights
      from (
        select l.id, q.id as queue_id, r.pinned_version, l.turn, g.ring, coalesce(q.shared_limit_id, 0) as shared_limit,
               q.rate_burst is not null and not q.rate_by_key as of_queue,
               coalesce(q.concurrency_override, q.concurrency_limit) is not null as is_limited,
               -- a start in the future counts (the clock was set back)
               case when q.rate_burst is not null then greatest(0, q.rate_burst - coalesce((
                 select case when s.at[cardinality(s.at)] <= p_scope.rate_now - q.rate_window then 0
                             when s.at[1] > p_scope.rate_now - q.rate_window then s.total
                             else (select sum(x.n) from unnest(s.at, s.n) as x (at, n) where x.at > p_scope.rate_now - q.rate_window)::int end
                   from queue_starts s
                  where s.queue_id = l.queue_id and s.key = case when q.rate_by_key then l.key else '' end limit 1), 0))
               end as starts,
               case when q.has_key_weights
                    then coalesce((select coalesce(k.weight_override, k.weight) from key_weights k
                                    where k.queue_id = l.queue_id and k.key = l.key), q.weight)
                    else q.weight end as weight,
               -- Lanes pinned to several versions may share a queue and key, and therefore its free slots. Two pairs with the same hash share
               -- those slots in this page.
               hashtextextended(l.key, l.queue_id) as queue_key,
               case when q.paused then 0
                    when coalesce(q.concurrency_override, q.concurrency_limit) is null then p_want
                    else greatest(0, coalesce(q.concurrency_override, q.concurrency_limit)
                         - (select count(*) from leases x where x.queue_id = l.queue_id and x.key = l.key)::int
                         - case when p_scope.has_ready_runs then (select count(*) from suspended s
                              where s.queue_id = l.queue_id and s.key = l.key and s.ready_at is not null)::int else 0 end)
               end as room
          from unnest(p_scope.pinned_versions) as r (pinned_version)
          cross join unnest(p_scope.rings) as g (ring)
          cross join lateral (
            select n.id, n.queue_id, n.key, n.turn from lanes n
             where n.env = p_scope.env and n.pinned_version + 0 = r.pinned_version and n.ring = g.ring and not n.blocked
               and n.turn > v_turn and n.id <= case when v_wrapped then c_newest else v_newest end
               and (not v_wrapped or n.turn <= v_start or n.id > v_newest)
             order by n.turn limit p_size
          ) l
          join queues q on q.id = l.queue_id
         order by l.turn, l.id limit p_size
      ) p;
    v_page.lanes := v_page.lanes || v_lanes;
    v_page.rate_limited := v_page.rate_limited || v_rate_limited;
    v_page.misplaced := v_page.misplaced || v_misplaced;
    v_page.is_end := v_found < p_size;
    exit when not v_page.is_end or v_wrapped or (v_start < 0 and v_newest = c_newest);
    v_wrapped := true;
    v_turn := -1;
  end loop;
  v_page.is_only := v_page.is_end and p_position.turn = v_start and not p_position.wrapped;
  v_page.reached := row (v_start, v_turn, p_position.newest, v_wrapped, 0)::ring_position;
  return v_page;
end $$;
