-- The fourth part of a claim: takes lanes out of the ring that cannot give. Late lanes return when their rate limit allows a start, full ones
-- when a slot of theirs comes free, misplaced ones are in the ring of their shared limit from now on, and empty ones are deleted.
-- Invariant: a lane that has runs is in a ring, or something that will happen puts it back there.
--
-- Locks: as hold_lanes, block_lanes, assign_rings and drop_idle_lanes, in this order. The caller holds the claim lock.
-- Callers: claim_runs.
create or replace function retire_lanes(p_late bigint[], p_full bigint[], p_misplaced bigint[], p_empty bigint[]) returns void
language plpgsql
as $$
begin
  if cardinality(p_late) > 0 then perform hold_lanes(p_late); end if;
  if cardinality(p_full) > 0 then perform block_lanes(p_full); end if;
  if cardinality(p_misplaced) > 0 then perform assign_rings(p_misplaced); end if;
  -- a few are kept, because a lane that empties often fills again at once
  if cardinality(p_empty) > 8 then perform drop_idle_lanes(p_empty); end if;
end $$;
