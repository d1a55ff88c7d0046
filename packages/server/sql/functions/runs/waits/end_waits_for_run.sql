-- Ends the waits for a run in the transaction that ends the run. For a run without waits it costs only the check of `awaited`.
--
-- Locks: as end_waits.
-- Callers: the trigger below.
create or replace function end_waits_for_run() returns trigger language plpgsql as $$
begin
  perform end_waits(new.finished_at, new.env, new.id);
  return null;
end $$;

create or replace trigger runs_awaited after update of status on runs for each row
  when (new.awaited and old.status is null and new.status is not null) execute function end_waits_for_run();
