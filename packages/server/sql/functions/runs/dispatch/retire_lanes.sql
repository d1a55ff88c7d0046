-- The fourth part of a claim: takes lanes out of the ring that cannot give. Rate-limited lanes return when their limit allows a start, those at
-- another limit when a slot comes free, misplaced ones are in the ring of their shared limit from now on, and empty ones are deleted.
-- Invariant: a lane that has runs is in a ring, or something that will happen puts it back there.
--
-- Locks: as hold_lanes, block_lanes, assign_rings and drop_idle_lanes, in this order. The caller holds the claim lock.
-- Callers: claim_runs.
create or replace function retire_lanes(p_lanes retired_lanes) returns void
language plpgsql
as $$
begin
  if cardinality(p_lanes.rate_limited) > 0 then perform hold_lanes(p_lanes.rate_limited); end if;
  if cardinality(p_lanes.at_limit) > 0 then perform block_lanes(p_lanes.at_limit); end if;
  if cardinality(p_lanes.misplaced) > 0 then perform assign_rings(p_lanes.misplaced); end if;
  -- a few are kept, because a lane that empties often fills again at once
  if cardinality(p_lanes.empty) > 8 then perform drop_idle_lanes(p_lanes.empty); end if;
end $$;
