-- When the leases of a runner expire that sent its last heartbeat at `p_heartbeat_at`: at `p_expires_at`, or if it has sent no heartbeat since the
-- last outage ended, one lease after that end at the earliest.
--
-- Locks: none.
-- Callers: operations/doctor/installation/runners-gone.ts, is_lease_over.
create or replace function lease_end(p_heartbeat_at timestamptz, p_expires_at timestamptz) returns timestamptz
language sql stable
as $$
  select greatest(p_expires_at, case when p_heartbeat_at < w.resumed_at then w.resumed_at + w.lease end)
    from lease_watch w where w.only_row
$$;
