-- How many more runs may execute under a shared limit. With `p_keep_reserved`, the slots for its ready runs (runs/waits) count as taken.
--
-- Locks: none. Callers that assign slots hold the claim lock.
-- Callers: telemetry/stats/sample.ts, open_rings, reserved_slots, resume_runs, shared_rooms.
create or replace function shared_room(p_limit int, p_keep_reserved boolean) returns int
language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_room bigint;
begin
  select coalesce(s.slots_override, s.slots) into v_room from shared_limits s where s.id = p_limit;
  -- counted queue by queue through the index: there are few queues
  v_room := v_room - (
    select coalesce(sum((select count(*) from leases x where x.queue_id = q.id)), 0) from queues q where q.shared_limit_id = p_limit);
  if p_keep_reserved then
    v_room := v_room - (
      select coalesce(sum((select count(*) from suspended x where x.queue_id = q.id and x.ready_at is not null)), 0)
        from queues q where q.shared_limit_id = p_limit);
  end if;
  return greatest(0, v_room)::int;
end $$;
