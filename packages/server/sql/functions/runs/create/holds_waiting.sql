-- Whether a run has not started. If so, it cannot start until the transaction ends. Also false if another transaction currently holds it.
-- The planner settings of the caller apply.
--
-- Locks: its row of delayed, pending_version or queued (key share, skip locked).
-- Callers: admit_singletons.
create or replace function holds_waiting(p_env int, p_run text) returns boolean
language plpgsql
as $$
declare
  r runs%rowtype;
begin
  select * into r from runs x where x.env = p_env and x.id = p_run and x.started_at is null;
  if not found then return false; end if;
  -- in the order in which a run moves through these tables
  perform from delayed d where d.env = p_env and d.run_id = p_run and not d.retry for key share skip locked;
  if not found then
    perform from pending_version p where p.env = p_env and p.task = r.task and p.run_id = p_run for key share skip locked;
  end if;
  if not found then
    perform from queued q
      where q.run_id = p_run and q.sort_key = r.sort_key
        and q.lane_id = any (array(select l.id from lanes l where l.queue_id = r.queue_id and l.key = coalesce(r.concurrency_key, '')))
      for key share skip locked;
  end if;
  return found;
end $$;
