-- Records that a server can write to the database. After a pause, or a jump of the database's clock, it records that an outage has ended.
-- The time is read under the lock, so of several servers only the first one after the outage records its end.
--
-- Locks: lease_watch, then runners.
-- Callers: runs/dispatch/lease-watch.ts.
create or replace function watch_leases(p_lease interval, p_shift interval) returns void
language plpgsql
as $$
declare
  v_watch lease_watch;
  v_now timestamptz;
begin
  select * into v_watch from lease_watch w where w.only_row;
  v_now := clock_timestamp() + p_shift;
  -- Another server has just done it, so a second write would add nothing.
  if v_watch.lease = p_lease and v_now between v_watch.ticked_at and v_watch.ticked_at + p_lease / 60 then return; end if;
  select * into v_watch from lease_watch w where w.only_row for no key update;
  v_now := clock_timestamp() + p_shift;
  update lease_watch w
     set ticked_at = v_now, lease = p_lease,
         resumed_at = case when v_now between v_watch.ticked_at - p_lease / 4 and v_watch.ticked_at + p_lease / 4
                           then w.resumed_at else v_now end
   where w.only_row;
  -- The clock was set back: no lease may last longer because of that.
  if v_now < v_watch.ticked_at - p_lease / 4 then
    update runners r set heartbeat_at = least(r.heartbeat_at, v_now - interval '1 millisecond'),
                         expires_at = least(r.expires_at, v_now + p_lease)
     where r.heartbeat_at >= v_now;
  end if;
end $$;
