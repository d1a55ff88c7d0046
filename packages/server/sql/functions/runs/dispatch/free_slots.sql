-- Unblocks the lanes of these queues and keys. Called after their leases have ended; has no effect if nothing is blocked. Lanes that a rate
-- limit holds stay blocked, because a free slot does not help them.
--
-- Locks: the blocked lanes.
-- Callers: begin_waits, complete_attempts, reclaim_leases.
create or replace function free_slots(p_env int[], p_queue int[], p_key text[]) returns void
language sql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
  update lanes l set blocked = false
   where l.id = any (array(
       select x.id from (select distinct * from unnest(p_queue, p_key) as i (queue_id, key)) i
        cross join lateral (
          -- `::int` so that the index of blocked lanes, which has neither queue nor key, does not apply
          select y.id from lanes y
           where y.queue_id = i.queue_id and y.key = i.key collate "default" and y.blocked::int = 1 and num_nulls(y.rate_limited_at) = 1 offset 0) x))
     -- checked once, and first: usually nothing is blocked
     and exists (select from lanes b where b.blocked and b.env = any (p_env))
$$;
