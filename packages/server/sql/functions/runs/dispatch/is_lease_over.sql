-- Whether a runner that sent its last heartbeat at `p_heartbeat_at` has lost its leases. They expire at `p_expires_at`. If the runner has sent no
-- heartbeat since the last outage ended, they expire one lease after that end. During an outage, and if the caller's clock differs from the
-- database's (`p_at`), nothing expires.
-- A heartbeat from the future was sent before the clock was set back, which ended an outage. A slightly later one is from another transaction.
--
-- Locks: none.
-- Callers: runs/dispatch/rescuer.ts, reclaim_leases.
create or replace function is_lease_over(p_heartbeat_at timestamptz, p_expires_at timestamptz, p_at timestamptz) returns boolean
language sql stable
as $$
  select p_at between w.ticked_at - w.lease / 4 and w.ticked_at + w.lease / 4
     and case when p_heartbeat_at between w.resumed_at and p_at + w.lease / 4 then p_expires_at else w.resumed_at + w.lease end <= p_at
    from lease_watch w where w.only_row
$$;
