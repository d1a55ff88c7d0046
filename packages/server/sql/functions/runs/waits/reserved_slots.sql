-- How many slots of an environment its ready runs may take at the same time.
--
-- Locks: none.
-- Callers: claim_scope.
create or replace function reserved_slots(p_env int) returns int
language plpgsql stable
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off
set enable_bitmapscan = off
as $$
begin
  return (
    select coalesce(sum(case when o.shared_limit_id is null then o.slots else least(o.slots, shared_room(o.shared_limit_id, false)) end), 0)
      from (
        select q.shared_limit_id, sum(least(s.ready_runs, coalesce(q.concurrency_override, q.concurrency_limit)
                 - (select count(*) from leases x where x.queue_id = s.queue_id and x.key = s.key))) as slots
          from (select y.queue_id, y.key, count(*) as ready_runs from suspended y
                 where y.env = p_env and y.ready_at is not null group by y.queue_id, y.key) s
          join queues q on q.id = s.queue_id and not q.paused
         group by q.shared_limit_id) o)::int;
end $$;
