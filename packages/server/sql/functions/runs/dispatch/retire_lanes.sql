-- The fourth part of a claim: removes lanes that cannot provide runs from the ring. Rate-limited lanes return when their limit allows a
-- start, and lanes at another limit when a slot becomes free. Misplaced lanes move to the ring of their shared limit, and empty ones are
-- deleted.
-- Invariant: a lane that has runs is in a ring, or a future event returns it to one.
--
-- Locks: as rate_limit_lanes, block_lanes, assign_rings and drop_idle_lanes, in this order. The caller holds the claim lock.
-- Callers: claim_runs.
create or replace function retire_lanes(p_lanes retired_lanes) returns void
language plpgsql
as $$
begin
  if cardinality(p_lanes.rate_limited) > 0 then perform rate_limit_lanes(p_lanes.rate_limited); end if;
  if cardinality(p_lanes.at_limit) > 0 then perform block_lanes(p_lanes.at_limit); end if;
  if cardinality(p_lanes.misplaced) > 0 then perform assign_rings(p_lanes.misplaced); end if;
  -- a few remain, because an empty lane often fills again immediately
  if cardinality(p_lanes.empty) > 8 then perform drop_idle_lanes(p_lanes.empty); end if;
end $$;
