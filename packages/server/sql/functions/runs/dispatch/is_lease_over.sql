-- Whether a runner that sent its last heartbeat at `p_heartbeat_at` has lost its leases, which expire at `lease_end`. During an outage, and if the
-- caller's clock (`p_at`) differs from the database's, nothing expires.
--
-- Locks: none.
-- Callers: runs/dispatch/rescuer.ts, schedules/fire.ts, reclaim_leases.
create or replace function is_lease_over(p_heartbeat_at timestamptz, p_expires_at timestamptz, p_at timestamptz) returns boolean
language sql stable
as $$
  select p_at between w.ticked_at - w.lease / 4 and w.ticked_at + w.lease / 4
     and lease_end(p_heartbeat_at, p_expires_at) <= p_at
    from lease_watch w where w.only_row
$$;
