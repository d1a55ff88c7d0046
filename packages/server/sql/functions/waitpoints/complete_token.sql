-- Completes a waiting token, and records who completed it. Returns its previous status, or null if the token does not exist.
--
-- Locks: the token, then as end_waits.
-- Callers: complete_waitpoint, events/complete-waits.ts, waitpoints/complete.ts.
create or replace function complete_token(
  p_at timestamptz, p_env int, p_id text, p_output text, p_output_type text, p_by text
) returns text
language plpgsql as $$
declare
  v_status text;
begin
  update waitpoints t set status = 'COMPLETED', completed_at = p_at, output = p_output, output_type = p_output_type, completed_by = p_by
   where t.env = p_env and t.id = p_id and t.status = 'WAITING';
  if found then
    perform end_waits(p_at, p_env, p_id);
    return 'WAITING';
  end if;
  select t.status into v_status from waitpoints t where t.env = p_env and t.id = p_id;
  return v_status;
end $$;
