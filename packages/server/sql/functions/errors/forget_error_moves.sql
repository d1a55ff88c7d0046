-- Deletes the packed moves of an environment when a fingerprint changes its group.
--
-- Locks: the row of error_moves.
-- Callers: the trigger below.
create or replace function forget_error_moves() returns trigger language plpgsql as $$
begin
  delete from error_moves where env = new.env;
  return null;
end $$;

create or replace trigger forget_error_moves after update of group_id on error_fingerprints
  for each row when (old.group_id <> new.group_id) execute function forget_error_moves();
