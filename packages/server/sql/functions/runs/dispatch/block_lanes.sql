-- Blocks the given lanes that are paused or whose key has no free slot, until a slot becomes free. The lanes are locked and checked again in a
-- new snapshot. Otherwise a release that committed in the meantime would be missed. The settings of the caller apply.
--
-- Locks: lanes by id (no key update). The caller holds the claim lock.
-- Callers: retire_lanes.
create or replace function block_lanes(p_lanes bigint[]) returns void
language plpgsql
as $$
begin
  perform from lanes l where l.id = any (p_lanes) order by l.id for no key update;
  update lanes l set blocked = true, rate_limited_at = null
   where l.id = any (p_lanes)
     and (select q.paused or coalesce(q.concurrency_override, q.concurrency_limit)
            <= (select count(*) from leases x where x.queue_id = l.queue_id and x.key = l.key)
            from queues q where q.id = l.queue_id);
end $$;
