-- Marks an idempotency key that was redirected to another run, so that it can be found when that run is deleted.
--
-- Locks: none beyond the row that is updated.
-- Callers: the trigger below.
create or replace function mark_redirected_key() returns trigger language plpgsql as $$
begin
  new.redirected := true;
  return new;
end $$;

create or replace trigger idempotency_key_redirected before update of run_id on idempotency_keys
  for each row when (old.run_id <> new.run_id) execute function mark_redirected_key();
