-- Requests a signal for the end of a run. Returns false if the run has ended or does not exist. The lock waits for a transaction that is
-- ending the run; a later one sees the rows of this transaction.
--
-- Locks: the run.
-- Callers: begin_waits, watch_batch.
create or replace function watch_run(p_env int, p_run text) returns boolean language plpgsql as $$
begin
  update runs r set awaited = true where r.env = p_env and r.id = p_run and r.status is null;
  return found;
end $$;
