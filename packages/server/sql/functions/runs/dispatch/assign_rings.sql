-- Moves lanes to the ring of their queue's shared limit, or to the common ring. The settings of the caller apply.
--
-- Locks: lanes by id (no key update). The caller holds the claim lock.
-- Callers: retire_lanes.
create or replace function assign_rings(p_lanes bigint[]) returns void
language plpgsql
as $$
begin
  perform from lanes l where l.id = any (p_lanes) order by l.id for no key update;
  update lanes l set ring = coalesce((select q.shared_limit_id from queues q where q.id = l.queue_id), 0) where l.id = any (p_lanes);
end $$;
