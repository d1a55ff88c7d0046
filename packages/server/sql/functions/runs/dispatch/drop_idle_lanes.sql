-- Deletes those of these lanes that have no runs. Each is locked and looked at again in a new snapshot: an enqueue that committed meanwhile
-- would otherwise be missed. Its settings are those of its caller.
--
-- Locks: lanes by id (skip locked).
-- Callers: hold_lanes, move_runs, retire_lanes.
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
