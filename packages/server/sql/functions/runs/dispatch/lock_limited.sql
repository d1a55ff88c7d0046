-- Takes the claim locks of the environments in which a limit applies to these queues. A slot must not be freed between the moment a claim
-- counts slots and the moment it marks lanes. Returns whether there is such a limit, in which case a run may be waiting for the slot.
--
-- Locks: claim locks in the order of the environments.
-- Callers: begin_waits, complete_attempts, reclaim_leases.
create or replace function lock_limited(p_env int[], p_queue int[]) returns boolean
language plpgsql as $$
declare
  v_limited int[];
begin
  select array_agg(distinct i.env order by i.env) into v_limited
    from (select distinct * from unnest(p_env, p_queue) as i (env, queue_id)) i
    join queues q on q.id = i.queue_id join environments e on e.id = i.env
   where coalesce(q.concurrency_override, q.concurrency_limit, q.shared_limit_id, e.concurrency_limit) is not null;
  if v_limited is null then return false; end if;
  perform claim_lock(g.env) from unnest(v_limited) as g (env);
  return true;
end $$;
