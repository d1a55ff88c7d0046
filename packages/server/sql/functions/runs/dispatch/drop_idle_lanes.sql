-- Deletes the given lanes that have no runs. Each is locked and checked again in a new snapshot. Otherwise an enqueue that committed in the
-- meantime would be missed. The settings of the caller apply.
--
-- Locks: lanes by id (skip locked).
-- Callers: rate_limit_lanes, move_runs, retire_lanes.
create or replace function drop_idle_lanes(p_lanes bigint[]) returns void
language plpgsql
as $$
declare
  v_lanes bigint[];
begin
  select array_agg(s.id) into v_lanes
    from (select l.id from lanes l where l.id = any (p_lanes) order by l.id for update skip locked) s;
  delete from lanes l
   where l.id = any (v_lanes) and (select true from queued w where w.lane_id = l.id limit 1) is null;
end $$;
