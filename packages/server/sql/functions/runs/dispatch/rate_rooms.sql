-- How many runs of these lanes may start by the limits of rate. `room` is what is left of `p_room`. `cap` is how many the lanes of one `rate_key`
-- may start together; null where no limit of rate applies. A start in the future (the clock was set back) counts.
--
-- Locks: none.
-- Callers: claim_runs.
create or replace function rate_rooms(p_lanes bigint[], p_room int[], out room int[], out cap int[], out rate_key bigint[])
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_now timestamptz := rate_now();
begin
  select array_agg(least(p.room, c.cap) order by p.nth), array_agg(c.cap order by p.nth),
         array_agg(case when c.cap is not null then hashtextextended(l.rate_key, l.queue_id) end order by p.nth)
    into room, cap, rate_key
    from unnest(p_lanes, p_room) with ordinality as p (lane_id, room, nth)
    cross join lateral (select x.queue_id, x.key from lanes x where x.id = p.lane_id limit 1) i
    cross join lateral (
      select q.id as queue_id, q.rate_burst, q.rate_window, case when q.rate_by_key then i.key else '' end as rate_key
        from queues q where q.id = i.queue_id limit 1) l
    left join lateral (
      select s.at, s.n from queue_starts s
       where l.rate_burst is not null and s.queue_id = l.queue_id and s.key = l.rate_key limit 1) s on true
    cross join lateral (
      select case when l.rate_burst is not null then greatest(0, l.rate_burst - coalesce((
               select sum(x.n) from unnest(s.at, s.n) as x (at, n) where x.at > v_now - l.rate_window), 0))::int end as cap) c;
end $$;
