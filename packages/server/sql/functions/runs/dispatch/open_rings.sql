-- The rings that a claim scans: the ring of lanes without a shared limit, and those of the given limits under which a run may start.
--
-- Locks: none. The caller holds the claim lock.
-- Callers: claim_runs, claim_scope.
create or replace function open_rings(p_limits int[], p_keep_reserved boolean) returns int[]
language sql
as $$ select array_agg(i.id) from unnest(0 || p_limits) as i (id) where i.id = 0 or shared_room(i.id, p_keep_reserved) > 0 $$;
